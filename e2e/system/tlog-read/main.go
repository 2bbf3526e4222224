// tlog-read reads all of a log with torchwood's client, which checks every tile and entry against the checkpoint. Its arguments are the
// log's URL and its verifier key. It prints, as JSON, the number of entries and the SHA-256 of all of them in their order.
package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"

	"filippo.io/torchwood"
)

type found struct {
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

func read(ctx context.Context, url, verifierKey string) (*found, error) {
	policy, err := torchwood.ParsePolicy([]byte("log " + verifierKey + "\nquorum none\n"))
	if err != nil {
		return nil, err
	}
	fetcher, err := torchwood.NewTileFetcher(url)
	if err != nil {
		return nil, err
	}
	signed, err := fetcher.ReadEndpoint(ctx, "checkpoint")
	if err != nil {
		return nil, err
	}
	checkpoint, _, err := torchwood.VerifyCheckpoint(signed, policy)
	if err != nil {
		return nil, err
	}
	client, err := torchwood.NewClient(fetcher)
	if err != nil {
		return nil, err
	}
	read, all := int64(0), sha256.New()
	for _, entry := range client.AllEntries(ctx, checkpoint.Tree, 0) {
		all.Write(entry)
		read++
	}
	return &found{Size: read, SHA256: hex.EncodeToString(all.Sum(nil))}, client.Err()
}

func main() {
	result, err := read(context.Background(), os.Args[1], os.Args[2])
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(result)
	}
	if err != nil {
		log.Fatal(err)
	}
}
