// Package halfcheck starts halfcheck's broker for a test, and gives it orders.
//
//	broker := halfcheck.Start(t, "--clock", "virtual")
//	broker.Order("topic", halfcheck.Takes{"name": "Orders"})
//	broker.Order("fault", halfcheck.Takes{"fault": "lose_end", "key": "order-7"})
//	broken := broker.Stop()["broken"]
package halfcheck

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Takes is what an order takes, by name.
type Takes map[string]any

// Broker is a broker of one test.
type Broker struct {
	// Address is that of broker and name server.
	Address string `json:"address"`
	// GrpcAddress is where gRPC clients connect to; empty without --grpc-port.
	GrpcAddress string `json:"grpc_address"`
	Control     string `json:"control"`
	Token       string `json:"token"`

	t         testing.TB
	process   *exec.Cmd
	isStopped bool
	ordered   map[any]bool
}

// Start starts a broker with options of `halfcheck broker`, and ends it when the test is over, which fails if a fault
// that it has ordered befell nothing. Under `halfcheck broker --exec`, that broker is taken; the test fails if it has
// other options than these.
func Start(t testing.TB, options ...string) *Broker {
	t.Helper()
	broker := &Broker{
		Address: os.Getenv("HALFCHECK_ADDRESS"), GrpcAddress: os.Getenv("HALFCHECK_GRPC_ADDRESS"),
		Control: os.Getenv("HALFCHECK_CONTROL"), Token: os.Getenv("HALFCHECK_TOKEN"), t: t, ordered: map[any]bool{},
	}
	if broker.Control != "" {
		requireOfExec(t, options)
		t.Cleanup(broker.end)
		return broker
	}
	program := os.Getenv("HALFCHECK")
	if program == "" {
		program = "halfcheck"
	}
	words := append([]string{"broker", "--port", "0", "--json", "--exit-with-parent"}, options...)
	broker.process = exec.Command(program, words...)
	complaints := &bytes.Buffer{}
	broker.process.Stderr = io.MultiWriter(os.Stderr, complaints)
	stdout, err := broker.process.StdoutPipe()
	if err == nil {
		err = broker.process.Start()
	}
	if err != nil {
		t.Fatalf("%v: pip install halfcheck, or set HALFCHECK=/path/to/halfcheck", err)
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<30)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), broker) != nil {
		broker.process.Wait()
		t.Fatalf("%s broker did not start: %s", program, strings.TrimSpace(complaints.String()))
	}
	t.Cleanup(broker.end)
	go func() {
		for lines.Scan() { // its verdict, which Stop gives
		}
	}()
	return broker
}

// requireOfExec fails the test unless the environment is whole and the broker of --exec has these options.
func requireOfExec(t testing.TB, options []string) {
	t.Helper()
	for _, variable := range []string{"HALFCHECK_ADDRESS", "HALFCHECK_TOKEN", "HALFCHECK_OPTIONS"} {
		if os.Getenv(variable) == "" {
			t.Fatalf("HALFCHECK_CONTROL is set and %s is not; halfcheck broker --exec sets both: pass on all of HALFCHECK_*, or none", variable)
		}
	}
	has := map[string]*string{}
	if err := json.Unmarshal([]byte(os.Getenv("HALFCHECK_OPTIONS")), &has); err != nil {
		t.Fatalf("HALFCHECK_OPTIONS: %v", err)
	}
	for at := 0; at < len(options); at++ {
		name, value := options[at], ""
		if at+1 < len(options) && !strings.HasPrefix(options[at+1], "--") {
			at++
			value = options[at]
		}
		its, isThere := has[name]
		if isThere && (its == nil || *its == value) {
			continue
		}
		itsOwn := "has none"
		if isThere {
			itsOwn = "has " + *its
		}
		asked := strings.TrimSpace(name + " " + value)
		t.Fatalf("this test asks for %s, the broker of --exec %s; give it to --exec, or run the test without", asked, itsOwn)
	}
}

// Order gives an order of docs/broker.md, and returns its answer when its effect is there; the test fails with the
// broker's line if it is refused.
func (b *Broker) Order(name string, takes Takes) map[string]any {
	b.t.Helper()
	if takes == nil {
		takes = Takes{}
	}
	body, err := json.Marshal(takes)
	if err != nil {
		b.t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, "http://"+b.Control+"/"+name, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+b.Token)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		b.t.Fatal(err)
	}
	defer response.Body.Close()
	answer := map[string]any{}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		b.t.Fatalf("%s: %v", name, err)
	}
	if response.StatusCode != http.StatusOK {
		b.t.Fatal(answer["error"])
	}
	if number, isFault := answer["ordered"].(float64); isFault {
		b.ordered[number] = true
	}
	return answer
}

// Wait waits as the order `wait` does, for a "producer", so many "rounds", or what is "delivered" or "consumed"; the
// test fails if that does not come within "timeout_ms".
func (b *Broker) Wait(what Takes) {
	b.t.Helper()
	if answer := b.Order("wait", what); answer["came"] != true {
		b.t.Fatal(answer["says"])
	}
}

// State is the state of the transaction whose message has a key, as of the order `transactions`.
func (b *Broker) State(key string) string {
	b.t.Helper()
	found := b.Order("transactions", Takes{"key": key})["transactions"].([]any)
	if len(found) != 1 {
		b.t.Fatalf("%d transactions have the key %s; one was expected", len(found), key)
	}
	return found[0].(map[string]any)["state"].(string)
}

// Stop stops the broker when op messages that wait in memory are written, and returns the verdict on its run. The test
// fails if there is none, if a fault befell nothing, and under `halfcheck broker --exec`.
func (b *Broker) Stop() map[string]any {
	b.t.Helper()
	if b.process == nil {
		b.t.Fatal("Stop: the broker is that of halfcheck broker --exec, and all tests have it; its verdict comes behind the command. Ask for State(key) here, or run the test without --exec")
	}
	verdict := b.Order("stop", Takes{"settles": true})
	b.isStopped = true
	b.process.Wait()
	b.requireUsed(verdict)
	if why := verdict["no_verdict"]; why != nil {
		b.t.Fatalf("no verdict: %v", why)
	}
	return verdict
}

func (b *Broker) end() {
	b.t.Helper()
	if b.isStopped {
		return
	}
	b.isStopped = true
	if b.process != nil {
		defer b.process.Wait()
		defer b.process.Process.Signal(os.Interrupt)
	}
	b.requireUsed(b.Order("status", nil))
}

func (b *Broker) requireUsed(answer map[string]any) {
	b.t.Helper()
	faults, _ := answer["unused_faults"].([]any)
	for _, each := range faults {
		if fault := each.(map[string]any); b.ordered[fault["number"]] {
			b.t.Error(fault["says"])
		}
	}
}
