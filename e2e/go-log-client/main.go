// Command go-log-client reads an anchor log by the C2SP formats, with Go's own checksum-database packages, which share
// no code with the log: signed checkpoint, hash tiles and entry bundles over HTTP.
//
// It takes a request as JSON on standard input and prints what it found as JSON. It ends with status 1, and says why on
// standard error, at the first thing that does not hold.
package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"golang.org/x/mod/sumdb/tlog"
)

// request says what to read and what must be found there.
type request struct {
	// Log is the URL that /checkpoint and /tile are under.
	Log string `json:"log"`
	// VerifierKey is the log's, as name+hash+key.
	VerifierKey string `json:"verifier_key"`
	// Entries must be in the log.
	Entries []placed `json:"entries"`
	// OldCheckpoint is a signed note that the log gave before; empty for none.
	OldCheckpoint string `json:"old_checkpoint"`
}

// placed is an entry and its place in the log.
type placed struct {
	Index int64 `json:"index"`
	// Entry is 64 hex characters.
	Entry string `json:"entry"`
}

// report is what was found, all of it checked.
type report struct {
	Origin string `json:"origin"`
	Size   int64  `json:"size"`
	// Root is the tree's hash in base64: the checkpoint says it, the tiles give it, the entries give it.
	Root string `json:"root"`
	// Included counts the requested entries, each proved by an inclusion proof.
	Included int `json:"included"`
	// ConsistentFrom is the size of the old checkpoint's tree, proved to be a prefix; 0 where none was given.
	ConsistentFrom int64 `json:"consistent_from"`
	// Tiles counts the hash tiles that were read, Bundles the bundles of entries.
	Tiles   int `json:"tiles"`
	Bundles int `json:"bundles"`
	// Checkpoint is the signed note, for a later OldCheckpoint.
	Checkpoint string `json:"checkpoint"`
}

func main() {
	found, err := run()
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(found)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() (*report, error) {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		return nil, fmt.Errorf("request: %w", err)
	}
	log := &client{
		base:  asked.Log,
		http:  &http.Client{Timeout: 10 * time.Second},
		saved: map[tlog.Tile][]byte{},
	}
	return check(log, asked)
}
