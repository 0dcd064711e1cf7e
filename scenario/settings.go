package scenario

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
)

// topKeys are the keys at the top of a scenario file.
var topKeys = []string{"name", "target", "workload", "load", "slo", "probe", "out"}

// setting is one row of the table that [Flags] is.
type setting struct{ section, key, flag string }

// id names a setting: its section and key, or the key alone at the top.
func (s setting) id() string {
	if s.section == "" {
		return s.key
	}
	return s.section + "." + s.key
}

type table []setting

// settingsTable reads the table off the tags of [Flags].
func settingsTable() table {
	var t table
	for f := range reflect.TypeFor[Flags]().Fields() {
		s := setting{section: f.Tag.Get("section"), key: f.Tag.Get("key"), flag: f.Tag.Get("name")}
		if s.key == "" {
			s.key = s.flag
		}
		t = append(t, s)
	}
	return append(t, setting{section: "workload", key: "classes"}, setting{section: "workload", key: "traffic-sha256"})
}

// keys returns the keys of a section, sorted; of the top those of the file.
func (t table) keys(section string) []string {
	if section == "" {
		return topKeys
	}
	var keys []string
	for _, s := range t {
		if s.section == section {
			keys = append(keys, s.key)
		}
	}
	slices.Sort(keys)
	return keys
}

// sectionOf finds where a key stands.
func (t table) sectionOf(key string) (string, bool) {
	for _, s := range t {
		if s.key == key && s.section != "" {
			return s.section, true
		}
	}
	return "", false
}

// fromFile sorts a file's mapping into settings by id.
func (t table) fromFile(root value) (map[string]value, Errors) {
	set, errs := map[string]value{}, Errors(nil)
	for _, top := range root.entries {
		switch {
		case !slices.Contains(topKeys, top.key):
			errs = append(errs, unknownKey(top, "", t))
		case top.key == "name" || top.key == "slo":
			set[top.key] = top.value
		case top.key == "out" && top.value.kind == textValue:
			set["out.dir"] = top.value
		case top.value.kind == nullValue:
		case top.value.kind != mapValue:
			errs = append(errs, top.value.expected("a mapping under "+strconv.Quote(top.key)))
		default:
			errs = append(errs, t.section(set, top)...)
		}
	}
	return set, errs
}

func (t table) section(set map[string]value, top entry) Errors {
	var errs Errors
	known := t.keys(top.key)
	for _, e := range top.value.entries {
		if top.key == "probe" {
			errs = append(errs, &Error{e.pos, "probe has no keys yet: what the client can see of itself is always recorded"})
			continue
		}
		if !slices.Contains(known, e.key) {
			errs = append(errs, unknownKey(e, top.key, t))
			continue
		}
		if e.value.kind == nullValue {
			errs = append(errs, e.value.errorf("%s has no value", e.key))
			continue
		}
		set[top.key+"."+e.key] = e.value
	}
	return errs
}

// fromFlags turns the given flags into settings by id.
func (t table) fromFlags(f Flags) map[string]value {
	set := map[string]value{}
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		s := t[i]
		pos := Pos{Flag: "--" + s.flag}
		switch x := v.Field(i).Interface().(type) {
		case *string:
			if x != nil {
				set[s.id()] = value{kind: flagText, text: *x, pos: pos}
			}
		case *bool:
			if x != nil {
				set[s.id()] = value{kind: boolValue, text: strconv.FormatBool(*x), pos: pos}
			}
		case []string:
			if len(x) > 0 {
				set[s.id()] = textList(x, pos)
			}
		}
	}
	return set
}

func textList(texts []string, pos Pos) value {
	l := value{kind: listValue, pos: pos}
	for _, s := range texts {
		l.items = append(l.items, value{kind: flagText, text: s, pos: pos})
	}
	return l
}

// loadKinds are the settings that decide the kind of load: flags that give
// one replace whichever the file gives.
var loadKinds = []string{"load.rate", "load.concurrency", "load.stages", "load.speed"}

// shapes are the settings that only make sense with some kind of load.
var shapes = []string{"load.arrival", "load.think", "load.adapt"}

// merge lays flags over a file's settings.
func merge(file, flags map[string]value) map[string]value {
	if given(flags, loadKinds) {
		drop(file, loadKinds)
		drop(file, shapes)
	}
	if given(flags, []string{"load.stages"}) {
		drop(file, []string{"load.duration"})
	}
	if given(flags, keySources) {
		drop(file, keySources)
	}
	maps.Copy(file, flags)
	return file
}

func given(set map[string]value, ids []string) bool {
	return slices.ContainsFunc(ids, func(id string) bool { _, ok := set[id]; return ok })
}

func drop(set map[string]value, ids []string) {
	for _, id := range ids {
		delete(set, id)
	}
}
