package trace

// lengthTables are the CSV tables of lengths.
func lengthTables() []format {
	return []format{
		{name: "azure", about: "Azure LLM inference traces 2023 and 2024: CSV of TIMESTAMP, ContextTokens, GeneratedTokens", shape: table,
			header: func(c columns) bool {
				return c.has("timestamp", "contexttokens", "generatedtokens") && !c.has("numimages")
			},
			table: azure},
		{name: "azure-multimodal", about: "Azure LMM inference trace 2025: the same with NumImages", shape: table,
			header: func(c columns) bool { return c.has("timestamp", "contexttokens", "generatedtokens", "numimages") },
			table:  azure},
		{name: "burstgpt", about: "BurstGPT: CSV of Timestamp, Model, Request tokens, Response tokens, Log Type", shape: table, counted: true,
			header: func(c columns) bool { return c.has("timestamp", "requesttokens", "responsetokens") },
			table:  burstGPT},
		{name: "etalon", about: "etalon's lengths: CSV of num_prefill_tokens, num_decode_tokens", shape: table,
			header: func(c columns) bool { return c.has("numprefilltokens", "numdecodetokens") },
			table:  etalon},
		{name: "servegen", about: "ServeGen's windows of clients and their lengths: a model, no rows", shape: table, model: true,
			header: func(c columns) bool { return c.has("client", "windowstarts") }},
	}
}

func azure(f *fields, r *Row) {
	f.at(r, "timestamp")
	r.Input = f.tokens(1, "contexttokens")
	r.Output = f.tokens(0, "generatedtokens")
	r.Images = f.count("numimages")
}

// burstGPT reads a request; one without an answer failed.
func burstGPT(f *fields, r *Row) {
	f.at(r, "timestamp")
	r.Input = f.tokens(1, "requesttokens")
	r.Output = f.tokens(0, "responsetokens")
	r.Told, r.Failed = true, r.Output == 0
	r.Session = f.text("sessionid")
	r.Model = f.text("model")
	r.Class = f.text("logtype")
	r.Duration = f.span("elapsedtime")
}

func etalon(f *fields, r *Row) {
	r.Input = f.tokens(1, "numprefilltokens")
	r.Output = f.tokens(0, "numdecodetokens")
}

// inputNames are columns of prompt lengths.
func inputNames() []string {
	return []string{"inputtokens", "contexttokens", "requesttokens", "numprefilltokens", "inputlength", "prompttokens", "inputtoks"}
}

func isLengths(c columns) bool {
	for _, n := range inputNames() {
		if c.has(n) {
			return true
		}
	}
	return false
}

// known tells whether a table is of a format with a name.
func known(c columns) bool {
	for _, f := range lengthTables() {
		if f.header(c) {
			return true
		}
	}
	return false
}

// lengths reads any table of lengths by the usual names.
func lengths(f *fields, r *Row) {
	f.at(r, "at", "timestamp", "arrivaltime", "arrivedat")
	r.Input = f.tokens(1, inputNames()...)
	r.Output = f.tokens(0, "outputtokens", "generatedtokens", "responsetokens", "numdecodetokens", "outputlength", "completiontokens", "outputtoks")
	r.Reasoning = f.tokens(0, "reasoningtokens")
	_, _, r.ReasoningTold = f.get("reasoningtokens")
	r.Cached = f.tokens(0, "cachedtokens")
	r.ID = f.text("id", "requestid")
	r.Session = f.text("sessionid")
	r.Class = f.text("class")
	r.Tenant = f.text("tenant")
	r.Model = f.text("model")
	r.Images = f.count("images", "numimages")
	r.Status = int(f.count("status"))
	r.Told, r.Failed = r.Status > 0, r.Status >= 400
}

// ownLengths reads a table of our own: moments count from the start.
func ownLengths(f *fields, r *Row) {
	if lengths(f, r); r.Timed && (r.At < 0 || r.Absolute) {
		f.fail("expected at to be seconds from the start, at least 0")
	}
}
