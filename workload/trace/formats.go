package trace

// Format is a kind of content that can be read.
type Format struct {
	Name  string
	About string // in a line
}

// Formats returns all formats, in the order of docs/traces.md.
func Formats() []Format {
	var list []Format
	for _, f := range formats() {
		if f.refused == "" {
			list = append(list, Format{f.name, f.about})
		}
	}
	return list
}

// shape is what a format's content looks like.
type shape int

const (
	objects shape = iota // JSON: one a line, or entries of an array
	table                // CSV with a header
	records              // records of another kind, which begin in a line of their own
)

func (s shape) String() string {
	switch s {
	case table:
		return "CSV with a header line"
	case records:
		return "records of GoReplay"
	}
	return "JSON lines or a JSON array"
}

// format says how a content is recognised and read.
type format struct {
	name, about string
	shape       shape
	// object tells whether an object is of the format, header the same of a
	// table's column names.
	object func(object) bool
	header func(columns) bool
	// open returns the decoder of objects or records.
	open func(*Options) decoder
	// table reads a line of a table.
	table func(*fields, *Row)
	// array names the lists whose entries are read, where an object holds
	// many of them.
	array []string
	// fromStart marks moments that count from the start of a run.
	fromStart bool
	// counted marks sources that name the session of a row but not its turn:
	// turns are counted.
	counted bool
	// traced marks sources that may name a trace in place of a session.
	traced bool
	// deltas marks sources whose rows may be of new text alone.
	deltas bool
	// ends marks sources that are not in order of their moments: logs whose
	// lines are written when a request ends, or sessions one after another.
	ends bool
	// refused is why the format is not read though it is known.
	refused string
	// model marks a content that is a model of traffic and has no rows.
	model bool
}

// formats are tried in this order; a content that several recognise is
// ambiguous.
func formats() []format {
	var list []format
	for _, part := range [][]format{ownFormats(), lengthTables(), hashTraces(), conversationFormats(),
		agentTraces(), aiperfInputs(), bodyFormats(), otelSpans(), gatewayLogs(), goReplay()} {
		list = append(list, part...)
	}
	return list
}

func formatNamed(name string) (format, bool) {
	for _, f := range formats() {
		if f.name == name {
			return f, true
		}
	}
	return format{}, false
}

// formatNames lists what may be given as a format.
func formatNames() []string {
	var list []string
	for _, f := range Formats() {
		list = append(list, f.Name)
	}
	return list
}
