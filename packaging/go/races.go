package dynalithtest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// Race is what a run of Races has around its clients.
type Race struct {
	Before  func(aws.Config) error // on a server without tables; may be nil
	Check   func(aws.Config) error // behind the clients; may be nil
	Options []string               // of `dynalith races`: "--budget", "200", "--lag", "--order", "races/7f3a4c21.json"
}

// Races runs the clients at once, again and again, each time on a new server and with another order of their requests. The test fails where one does, with the
// order, in which they are client1, client2 and so on. A client that panics ends the test binary.
func Races(t testing.TB, race Race, clients ...func(aws.Config) error) {
	t.Helper()
	told, err := race.run(clients)
	if err != nil {
		t.Fatalf("dynalith races: %v\n%s", err, told)
	}
	t.Log(told)
}

// run returns what `dynalith races` has printed.
func (race Race) run(clients []func(aws.Config) error) (string, error) {
	path, done, err := binary()
	if err != nil {
		return "", err
	}
	defer done()
	var told, problems bytes.Buffer
	command := exec.Command(path, append([]string{"races", "--by-lines"}, race.Options...)...)
	command.Stderr = &problems
	input, err := command.StdinPipe()
	if err != nil {
		return "", err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err = command.Start(); err != nil {
		return "", err
	}
	lines := bufio.NewScanner(output)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		url, isRun := strings.CutPrefix(lines.Text(), "run ")
		if !isRun {
			fmt.Fprintln(&told, lines.Text())
			continue
		}
		said := "passed"
		if err := race.once(url, clients); err != nil {
			said = "failed: " + strings.Join(strings.Fields(err.Error()), " ")
		}
		fmt.Fprintln(input, said)
	}
	input.Close()
	err = errors.Join(lines.Err(), command.Wait())
	return told.String() + problems.String(), err
}

func (race Race) once(url string, clients []func(aws.Config) error) error {
	if race.Before != nil {
		if err := race.Before(raceConfig(url, "")); err != nil {
			return err
		}
	}
	var running sync.WaitGroup
	ends := make([]error, len(clients))
	for i, client := range clients {
		running.Add(1)
		go func(i int, client func(aws.Config) error) {
			defer running.Done()
			ends[i] = client(raceConfig(url, fmt.Sprintf("client%d", i+1)))
		}(i, client)
	}
	running.Wait()
	if err := errors.Join(ends...); err != nil || race.Check == nil {
		return err
	}
	return race.Check(raceConfig(url, ""))
}

// raceConfig is of a client whose requests have its name in their user agent.
func raceConfig(url, name string) aws.Config {
	keys := aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
		return aws.Credentials{AccessKeyID: "races", SecretAccessKey: "races"}, nil
	})
	return aws.Config{Region: "us-east-1", BaseEndpoint: aws.String(url), Credentials: keys, AppID: name}
}
