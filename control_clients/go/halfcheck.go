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
	"net/http"
	"os"
	"os/exec"
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

	t       testing.TB
	process *exec.Cmd
}

// Start starts a broker with options of `halfcheck broker`, and stops it when the test is over. Under
// `halfcheck broker --exec`, that broker is taken, whatever the options are.
func Start(t testing.TB, options ...string) *Broker {
	t.Helper()
	broker := &Broker{
		Address: os.Getenv("HALFCHECK_ADDRESS"), GrpcAddress: os.Getenv("HALFCHECK_GRPC_ADDRESS"),
		Control: os.Getenv("HALFCHECK_CONTROL"), Token: os.Getenv("HALFCHECK_TOKEN"), t: t,
	}
	if broker.Control != "" {
		return broker
	}
	program := os.Getenv("HALFCHECK")
	if program == "" {
		program = "halfcheck"
	}
	words := append([]string{"broker", "--port", "0", "--json", "--exit-with-parent"}, options...)
	broker.process = exec.Command(program, words...)
	broker.process.Stderr = os.Stderr
	stdout, err := broker.process.StdoutPipe()
	if err == nil {
		err = broker.process.Start()
	}
	if err != nil {
		t.Fatalf("%s broker did not start: %v", program, err)
	}
	t.Cleanup(broker.end)
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), broker) != nil {
		t.Fatalf("%s broker did not start; it says why on stderr", program)
	}
	go func() {
		for lines.Scan() { // its verdict, which Stop gives
		}
	}()
	return broker
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
	return answer
}

// Wait waits for a "producer", so many "rounds" or what is "delivered"; the test fails if that does not come.
func (b *Broker) Wait(what Takes) {
	b.t.Helper()
	if answer := b.Order("wait", what); answer["came"] != true {
		b.t.Fatalf("%v did not come; the broker knows %v", what, answer)
	}
}

// Stop stops the broker, and returns the verdict on its run.
func (b *Broker) Stop() map[string]any {
	b.t.Helper()
	verdict := b.Order("stop", nil)
	b.end()
	return verdict
}

func (b *Broker) end() {
	if b.process != nil && b.process.ProcessState == nil {
		b.process.Process.Signal(os.Interrupt)
		b.process.Wait()
	}
}
