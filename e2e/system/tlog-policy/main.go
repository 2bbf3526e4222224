// tlog-policy judges checkpoints by policies as torchwood does. Standard input is a JSON array of cases, standard output one of
// verdicts, in the same order.
package main

import (
	"encoding/json"
	"log"
	"os"

	"filippo.io/torchwood"
)

type policyCase struct {
	Policy     []byte `json:"policy_base64"`
	Checkpoint string `json:"checkpoint"`
}

// verdict says why the text is no policy, or why the checkpoint does not meet it; neither if it does.
type verdict struct {
	Refused string `json:"refused,omitempty"`
	Unmet   string `json:"unmet,omitempty"`
}

func judge(given policyCase) verdict {
	policy, err := torchwood.ParsePolicy(given.Policy)
	if err != nil {
		return verdict{Refused: err.Error()}
	}
	if _, _, err := torchwood.VerifyCheckpoint([]byte(given.Checkpoint), policy); err != nil {
		return verdict{Unmet: err.Error()}
	}
	return verdict{}
}

func main() {
	var cases []policyCase
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		log.Fatal(err)
	}
	verdicts := []verdict{}
	for _, given := range cases {
		verdicts = append(verdicts, judge(given))
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdicts); err != nil {
		log.Fatal(err)
	}
}
