package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

const (
	// tileHeight is the one height of C2SP tlog-tiles: 256 hashes a tile.
	tileHeight = 8
	tileWidth  = 1 << tileHeight
	// maxBytes is above the largest bundle: 256 entries of 65535 bytes and their lengths.
	maxBytes = tileWidth * (2 + 65535)
)

// client fetches a log's files. It is the tlog.TileReader of C2SP paths.
type client struct {
	base string
	http *http.Client
	// saved holds the hash tiles that were found to be in the tree.
	saved map[tlog.Tile][]byte
}

// get reads a file of the log. found is false where the log has none.
func (c *client) get(path string) (data []byte, found bool, err error) {
	answer, err := c.http.Get(c.base + "/" + path)
	if err != nil {
		return nil, false, err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusNotFound {
		return nil, false, nil
	}
	if answer.StatusCode != http.StatusOK {
		return nil, false, fmt.Errorf("%s: status %s", path, answer.Status)
	}
	data, err = io.ReadAll(io.LimitReader(answer.Body, maxBytes+1))
	if err == nil && len(data) > maxBytes {
		err = fmt.Errorf("%s: more than %d bytes", path, maxBytes)
	}
	return data, true, err
}

// tile reads a tile or bundle. Once a tile is full, a log may have thrown away its partial ones.
func (c *client) tile(level string, n int64, width int) ([]byte, error) {
	partial := tilePath(level, n, width)
	data, found, err := c.get(partial)
	if err == nil && !found && width < tileWidth {
		data, found, err = c.get(tilePath(level, n, tileWidth))
	}
	if err == nil && !found {
		err = fmt.Errorf("%s: not found", partial)
	}
	return data, err
}

// tilePath is tile/<L>/<N>[.p/<W>]: the package's own path without the tile's height, which C2SP fixes.
func tilePath(level string, n int64, width int) string {
	withHeight := tlog.Tile{H: tileHeight, L: 0, N: n, W: width}.Path()
	return "tile/" + level + "/" + strings.TrimPrefix(withHeight, fmt.Sprintf("tile/%d/0/", tileHeight))
}

// Height implements tlog.TileReader.
func (c *client) Height() int { return tileHeight }

// ReadTiles implements tlog.TileReader.
func (c *client) ReadTiles(tiles []tlog.Tile) ([][]byte, error) {
	var all [][]byte
	for _, tile := range tiles {
		if data, ok := c.saved[tile]; ok {
			all = append(all, data)
			continue
		}
		data, err := c.tile(fmt.Sprint(tile.L), tile.N, tile.W)
		if err != nil {
			return nil, err
		}
		if len(data)%tlog.HashSize != 0 || len(data) < tile.W*tlog.HashSize {
			return nil, fmt.Errorf("%s: %d bytes", tile.Path(), len(data))
		}
		all = append(all, data[:tile.W*tlog.HashSize])
	}
	return all, nil
}

// SaveTiles implements tlog.TileReader.
func (c *client) SaveTiles(tiles []tlog.Tile, data [][]byte) {
	for i, tile := range tiles {
		c.saved[tile] = data[i]
	}
}
