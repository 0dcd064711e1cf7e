package scenario

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/tokamak-bench/tokamak/exit"
)

// Auth says how requests prove who sends them.
type Auth struct {
	// Header is the field that carries the key; with Authorization the key is
	// sent as a bearer token.
	Header string
	// Key is the key itself; empty where there is none or Command gives it.
	Key Secret
	// Command, where set, is a shell command whose output is the key.
	Command string
	// File is the file that Key was read from, if it was.
	File string
	// From says in words where the key is from: $OPENAI_API_KEY, a file, a
	// command; empty where there is none.
	From string
}

// commandLimit bounds an auth command.
const commandLimit = 30 * time.Second

// Field returns the header field to send, running the command if there is
// one. The value is empty where there is no key. The command's output is never part of an error.
func (a *Auth) Field(ctx context.Context) (Header, error) {
	key := a.Key.Reveal()
	if a.Command != "" {
		ctx, stop := context.WithTimeout(ctx, commandLimit)
		defer stop()
		out, err := exec.CommandContext(ctx, "sh", "-c", a.Command).Output()
		if err != nil {
			if ctx.Err() != nil {
				err = fmt.Errorf("it did not end within %v", commandLimit)
			}
			return Header{}, exit.With(exit.Usage, fmt.Errorf("--auth-command: %w", withoutOutput(err)))
		}
		key = strings.TrimSpace(string(out))
		if key == "" {
			return Header{}, exit.With(exit.Usage, errors.New("--auth-command printed nothing"))
		}
	}
	if key == "" {
		return Header{}, nil
	}
	if strings.EqualFold(a.Header, "Authorization") && !strings.Contains(key, " ") {
		key = "Bearer " + key
	}
	return Header{Name: a.Header, Value: NewSecret(key)}, nil
}

// withoutOutput drops what a failed command wrote: it may hold secrets.
func withoutOutput(err error) error {
	if status, ok := errors.AsType[*exec.ExitError](err); ok {
		return errors.New(status.ProcessState.String())
	}
	return err
}
