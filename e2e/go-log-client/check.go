package main

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// check reads the whole log and proves what was asked.
func check(log *client, asked request) (*report, error) {
	verifier, err := note.NewVerifier(asked.VerifierKey)
	if err != nil {
		return nil, err
	}
	signed, found, err := log.get("checkpoint")
	if err != nil || !found {
		return nil, errors.Join(errors.New("no checkpoint"), err)
	}
	tree, err := openCheckpoint(signed, verifier)
	if err != nil {
		return nil, err
	}
	hashes := tlog.TileHashReader(tree, log)
	if err := checkRoot(tree, hashes); err != nil {
		return nil, err
	}
	bundles, err := checkEntries(log, tree, hashes)
	if err != nil {
		return nil, err
	}
	if err := checkInclusion(tree, hashes, asked.Entries); err != nil {
		return nil, err
	}
	old, err := checkConsistency(tree, hashes, asked.OldCheckpoint, verifier)
	if err != nil {
		return nil, err
	}
	return &report{
		Origin:         verifier.Name(),
		Size:           tree.N,
		Root:           tree.Hash.String(),
		Included:       len(asked.Entries),
		ConsistentFrom: old,
		Tiles:          len(log.saved),
		Bundles:        bundles,
		Checkpoint:     string(signed),
	}, nil
}

// openCheckpoint verifies the note and reads origin, size and root (C2SP tlog-checkpoint).
func openCheckpoint(signed []byte, verifier note.Verifier) (tree tlog.Tree, err error) {
	opened, err := note.Open(signed, note.VerifierList(verifier))
	if err != nil {
		return tree, fmt.Errorf("checkpoint: %w", err)
	}
	lines := strings.SplitN(opened.Text, "\n", 4)
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return tree, fmt.Errorf("checkpoint: not one of %s: %q", verifier.Name(), opened.Text)
	}
	tree.N, err = strconv.ParseInt(lines[1], 10, 64)
	if err != nil || tree.N < 0 || lines[1] != strconv.FormatInt(tree.N, 10) {
		return tree, fmt.Errorf("checkpoint: not a tree size: %q", lines[1])
	}
	root, err := base64.StdEncoding.Strict().DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		return tree, fmt.Errorf("checkpoint: not a root hash: %q", lines[2])
	}
	copy(tree.Hash[:], root)
	return tree, nil
}

// checkRoot computes the root anew from the tiles.
func checkRoot(tree tlog.Tree, hashes tlog.HashReader) error {
	root, err := tlog.TreeHash(tree.N, hashes)
	if err != nil {
		return fmt.Errorf("root of %d: %w", tree.N, err)
	}
	if root != tree.Hash {
		return fmt.Errorf("root of %d: the tiles give %v, the checkpoint says %v", tree.N, root, tree.Hash)
	}
	return nil
}

// checkEntries reads every entry and compares its hash with the leaf in the tiles. It returns the number of bundles.
func checkEntries(log *client, tree tlog.Tree, hashes tlog.HashReader) (bundles int, err error) {
	for start := int64(0); start < tree.N; start += tileWidth {
		width := int(min(tileWidth, tree.N-start))
		bundle, err := log.tile("entries", start/tileWidth, width)
		if err != nil {
			return 0, err
		}
		indexes := make([]int64, width)
		for i := range indexes {
			indexes[i] = tlog.StoredHashIndex(0, start+int64(i))
		}
		leaves, err := hashes.ReadHashes(indexes)
		if err != nil {
			return 0, err
		}
		for i, leaf := range leaves {
			var entry []byte
			if entry, bundle, err = nextEntry(bundle); err != nil {
				return 0, fmt.Errorf("entry %d: %w", start+int64(i), err)
			}
			if tlog.RecordHash(entry) != leaf {
				return 0, fmt.Errorf("entry %d does not have the hash of its leaf", start+int64(i))
			}
		}
		if width == tileWidth && len(bundle) > 0 {
			return 0, fmt.Errorf("the bundle of entry %d goes on after its %d entries", start, width)
		}
		bundles++
	}
	return bundles, nil
}

// nextEntry cuts an entry off a bundle: its length in two bytes, big-endian, and its bytes.
func nextEntry(bundle []byte) (entry, rest []byte, err error) {
	if len(bundle) < 2 {
		return nil, nil, errors.New("the bundle ends before it")
	}
	end := 2 + int(binary.BigEndian.Uint16(bundle))
	if len(bundle) < end {
		return nil, nil, errors.New("the bundle ends within it")
	}
	return bundle[2:end], bundle[end:], nil
}

// checkInclusion proves every entry at its place.
func checkInclusion(tree tlog.Tree, hashes tlog.HashReader, entries []placed) error {
	for _, asked := range entries {
		entry, err := hex.DecodeString(asked.Entry)
		if err != nil {
			return err
		}
		if asked.Index < 0 || asked.Index >= tree.N {
			return fmt.Errorf("entry %d: not among the %d of the checkpoint", asked.Index, tree.N)
		}
		proof, err := tlog.ProveRecord(tree.N, asked.Index, hashes)
		if err != nil {
			return err
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, asked.Index, tlog.RecordHash(entry)); err != nil {
			return fmt.Errorf("entry %d: %w", asked.Index, err)
		}
	}
	return nil
}

// checkConsistency proves that the tree of an older checkpoint is the beginning of this one. It returns its size.
func checkConsistency(
	tree tlog.Tree, hashes tlog.HashReader, signed string, verifier note.Verifier,
) (size int64, err error) {
	if signed == "" {
		return 0, nil
	}
	old, err := openCheckpoint([]byte(signed), verifier)
	if err != nil {
		return 0, fmt.Errorf("old %w", err)
	}
	proof, err := tlog.ProveTree(tree.N, old.N, hashes)
	if err != nil {
		return 0, fmt.Errorf("from %d to %d: %w", old.N, tree.N, err)
	}
	if err := tlog.CheckTree(proof, tree.N, tree.Hash, old.N, old.Hash); err != nil {
		return 0, fmt.Errorf("from %d to %d: %w", old.N, tree.N, err)
	}
	return old.N, nil
}
