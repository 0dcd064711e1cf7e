package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Names of the files of a run directory.
const (
	ManifestFile   = "run.json"
	RequestsFile   = "requests.arrows"
	DispatchedFile = "dispatched.arrows"
	SamplesFile    = "samples.arrows"
	OutputsFile    = "outputs.arrows"
	EventsFile     = "events.jsonl"
	RequestsTable  = "requests.parquet"
	SamplesTable   = "samples.parquet"
	OutputsTable   = "outputs.parquet"
	SummaryFile    = "summary.json"
)

// Options of a run directory.
type Options struct {
	// SaveOutputs keeps the texts of answers.
	SaveOutputs bool
	// Secrets are replaced wherever they stand in a text from outside.
	Secrets []string
	// FlushEvery is the longest time for which a row stays in memory only;
	// 0 means half a second.
	FlushEvery time.Duration

	open func(path string) (file, error) // for tests of failing disks
}

const (
	flushEvery = 500 * time.Millisecond
	flushBytes = 1 << 20  // a batch of this size is written at once
	roomBytes  = 16 << 20 // above this the callers wait for the disk
)

// Writer writes a run directory. Its methods but Finish may be called from
// any goroutine; none of them waits for the disk unless it is 16 MiB behind.
// An error of the disk is returned by the next call and by all later ones:
// the run is to be ended, and Finish saves what can be saved.
type Writer struct {
	dir string
	opt Options

	mu         sync.Mutex
	room       *sync.Cond
	requests   *stream[Attempt]
	dispatched *stream[Attempt]
	samples    *stream[Sample]
	outputs    *stream[Attempt] // nil unless asked for
	events     *lines
	pending    int                   // bytes in memory, roughly
	inFlight   map[[2]int64]struct{} // dispatched and not ended, by request and attempt
	lost       int                   // rows for which there was no room after an error
	err        error
	finished   bool
	unlock     func()

	kick, stop, done chan struct{}
	flushing         sync.Mutex // one flush at a time

	manifestMu sync.Mutex // apart from mu: rows do not wait for run.json
	manifest   Manifest
}

// Create makes a run directory and returns its writer. A directory that exists
// already is an error that wraps fs.ErrExist.
func Create(dir string, m *Manifest, opt Options) (*Writer, error) {
	if opt.FlushEvery == 0 {
		opt.FlushEvery = flushEvery
	}
	if opt.open == nil {
		opt.open = openAppend
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o777); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	opt.Secrets = withEscapes(opt.Secrets)
	w := &Writer{dir: dir, opt: opt, manifest: *m, inFlight: map[[2]int64]struct{}{},
		kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	w.room = sync.NewCond(&w.mu)
	if err := w.openFiles(); err != nil {
		return nil, fmt.Errorf("run directory: %w", err)
	}
	go w.run()
	return w, nil
}

func openAppend(path string) (file, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o666)
}

func (w *Writer) openFiles() (err error) {
	var opened []file
	defer func() {
		if err != nil {
			for _, f := range opened {
				_ = f.Close()
			}
			if w.unlock != nil {
				w.unlock()
			}
		}
	}()
	open := func(name string) file {
		if err != nil {
			return nil
		}
		var f file
		if f, err = w.opt.open(filepath.Join(w.dir, name)); err == nil {
			opened = append(opened, f)
		}
		return f
	}
	if w.unlock, err = lock(w.dir); err != nil {
		return err
	}
	if err = w.writeManifest(); err != nil {
		return err
	}
	w.requests = newStream(RequestsFile, open(RequestsFile), attemptTable())
	w.dispatched = newStream(DispatchedFile, open(DispatchedFile), dispatchTable())
	w.samples = newStream(SamplesFile, open(SamplesFile), sampleTable())
	w.events = &lines{name: EventsFile, file: open(EventsFile)}
	if w.opt.SaveOutputs {
		w.outputs = newStream(OutputsFile, open(OutputsFile), outputTable())
	}
	return err
}

// Dir returns the run directory.
func (w *Writer) Dir() string { return w.dir }

// run writes what has been collected, at least once in every FlushEvery.
func (w *Writer) run() {
	defer close(w.done)
	tick := time.NewTicker(w.opt.FlushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
		case <-w.kick:
		case <-w.stop:
			return
		}
		if w.failed() == nil {
			w.flush()
		}
	}
}

func (w *Writer) failed() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// flush writes everything collected so far: ended attempts first, so that a
// crash in between never makes an ended request look cut.
func (w *Writer) flush() {
	w.flushing.Lock()
	defer w.flushing.Unlock()
	w.mu.Lock()
	requests, outputs := w.requests.take(), (*batch[Attempt])(nil)
	if w.outputs != nil {
		outputs = w.outputs.take()
	}
	dispatched, samples := w.dispatched.take(), w.samples.take()
	w.events.take()
	w.pending = 0
	w.mu.Unlock()
	err := errors.Join(put(w.requests, requests), put(w.outputs, outputs),
		put(w.dispatched, dispatched), put(w.samples, samples), w.events.flush())
	w.mu.Lock()
	giveBack(w.requests, requests)
	giveBack(w.outputs, outputs)
	giveBack(w.dispatched, dispatched)
	giveBack(w.samples, samples)
	if w.err == nil && err != nil {
		w.err = fmt.Errorf("cannot write the run directory %s: %w", w.dir, err)
	}
	w.room.Broadcast()
	w.mu.Unlock()
}

func put[R any](s *stream[R], b *batch[R]) error {
	if s == nil {
		return nil
	}
	if b != nil {
		if err := s.encode(b); err != nil {
			return err
		}
	}
	return s.flush()
}

func giveBack[R any](s *stream[R], b *batch[R]) {
	if b != nil {
		s.spare = b
	}
}

// collect makes room for size bytes and calls add under the lock.
func (w *Writer) collect(size int, add func()) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.pending > roomBytes && w.err == nil && !w.finished {
		w.signal()
		w.room.Wait()
	}
	if w.finished {
		return errors.Join(w.err, fmt.Errorf("run directory %s: %w", w.dir, os.ErrClosed))
	}
	if w.pending > roomBytes {
		w.lost++
		return w.err
	}
	add()
	w.pending += size
	if w.pending > flushBytes {
		w.signal()
	}
	return w.err
}

func (w *Writer) signal() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// Dispatched notes that an attempt is being sent. Only what is known at
// sending is read, at once: a stays the caller's.
func (w *Writer) Dispatched(a *Attempt) error {
	return w.collect(192, func() {
		w.dispatched.filling.add(a)
		w.inFlight[[2]int64{a.RequestID, a.Attempt}] = struct{}{}
	})
}

// Ended writes the row of an attempt that is over. It is read at once; texts
// of the server are stripped of secrets in a itself.
func (w *Writer) Ended(a *Attempt) error {
	if a.ErrorText != "" {
		a.ErrorText = w.scrub(a.ErrorText)
	}
	for i, n := range a.Notes {
		a.Notes[i] = w.scrub(n)
	}
	return w.collect(512+22*a.Chunks.Len()+len(a.ErrorText), func() {
		w.requests.filling.add(a)
		delete(w.inFlight, [2]int64{a.RequestID, a.Attempt})
		if w.outputs != nil {
			w.outputs.filling.add(a)
			w.pending += len(a.Output)
		}
	})
}

// Sample writes one reading of a probe.
func (w *Writer) Sample(s Sample) error {
	return w.collect(96+len(s.Labels), func() { w.samples.filling.add(&s) })
}

// Event writes one line of events.jsonl.
func (w *Writer) Event(e Event) error {
	b, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Kind, err)
	}
	b = append([]byte(w.scrub(string(b))), '\n')
	return w.collect(len(b), func() { w.events.filling = append(w.events.filling, b...) })
}

// UpdateManifest changes run.json: what is learnt during the run, such as
// adapted fields. The file is replaced in one step.
func (w *Writer) UpdateManifest(change func(m *Manifest)) error {
	w.manifestMu.Lock()
	defer w.manifestMu.Unlock()
	change(&w.manifest)
	return w.writeManifest()
}

func (w *Writer) writeManifest() error {
	b, err := w.manifest.encode(w.opt.Secrets)
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(w.dir, ManifestFile), b)
}

// WriteFile writes a file of another's making, such as summary.json, into the
// run directory, replacing it in one step. It may be called after Finish.
func (w *Writer) WriteFile(name string, content []byte) error {
	return replaceFile(filepath.Join(w.dir, name), content)
}

// Finish writes what is left, ends the streams and makes the Parquet files
// from them. After an error of the disk it tries once more to save what is in
// memory; the run directory can be recovered in any case. A second call
// returns what the first one did.
func (w *Writer) Finish() error {
	w.mu.Lock()
	if w.finished {
		defer w.mu.Unlock()
		return w.err
	}
	w.finished = true
	w.room.Broadcast()
	w.mu.Unlock()
	close(w.stop)
	<-w.done
	w.flush()
	defer w.unlock()
	err := errors.Join(w.requests.close(), w.dispatched.close(), w.samples.close(), w.events.close())
	if w.outputs != nil {
		err = errors.Join(err, w.outputs.close())
	}
	if err == nil && w.lost == 0 {
		err = w.writeTables()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.lost > 0 {
		err = errors.Join(err, fmt.Errorf("%d rows are lost", w.lost))
	}
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("cannot write the run directory %s: %w", w.dir, err)
	}
	return w.err
}

// writeTables makes the Parquet files. An attempt whose end nobody told is
// kept as one lost in a crash is.
func (w *Writer) writeTables() error {
	if len(w.inFlight) == 0 {
		return writeTables(w.dir, nil, nil)
	}
	cut, err := unended(w.dir, &Recovered{})
	if err != nil {
		return err
	}
	return writeTables(w.dir, cut, nil)
}
