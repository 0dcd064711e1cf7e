package media

// Kind says what a file holds.
type Kind uint8

// The kinds of files.
const (
	Picture Kind = iota + 1
	Sound
	Film
)

// String names a kind for people.
func (k Kind) String() string {
	switch k {
	case Picture:
		return "an image"
	case Sound:
		return "sound"
	case Film:
		return "video"
	}
	return "a file"
}

// File is the encoded form of an image, a sound or a video.
type File struct {
	Kind   Kind
	Format string // JPEG, PNG, WAV, or what a recorded one is
	Data   []byte
	// URL, where set, is where the server is to fetch it, in place of Data.
	URL string
}
