package media

// Kind says what a file holds.
type Kind uint8

// The kinds of files.
const (
	Picture Kind = iota + 1
	Sound
)

// File is the encoded form of an image or a sound.
type File struct {
	Kind   Kind
	Format string // JPEG, PNG or WAV
	Data   []byte
}
