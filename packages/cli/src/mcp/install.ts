import { copyFileSync, existsSync, mkdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatTimestamp, isObject, type JsonObject } from '@tallystick/core';
import { unreadable, unwritable, writeAtomically } from '../files.ts';
import { print, remark, UsageError } from '../output.ts';
import { CLIENTS, type ClientFile, type ClientName, here } from './clients.ts';
import { entriesOf, parseJsonc, withEntry } from './edit-json.ts';
import { parseToml, withTable } from './edit-toml.ts';
import { type ProxyProgram, wrapEntry } from './server-entry.ts';

/** The options of `tally mcp install`, as they are typed. */
export interface InstallOptions {
  readonly name?: string;
  readonly server?: URL;
  readonly all?: boolean;
  readonly file?: string;
  readonly write?: boolean;
}

/**
 * Puts the proxy in front of servers in a client's configuration: one that is named, with its command or URL or as it is
 * configured already, or all. Prints the change, and makes it if `write` is set.
 * @throws UsageError
 */
export function install(name: ClientName, command: readonly string[], options: InstallOptions): void {
  const client: ClientFile = CLIENTS[name];
  const path = options.file ?? client.path(here());
  const text = existsSync(path) ? read(path) : '';
  const document = client.form === 'json' ? parseJsonc(text.trim() === '' ? '{}' : text) : parseToml(text);
  if (!isObject(document))
    throw new UsageError(`${path} can't be read as ${client.form === 'json' ? 'JSON' : 'TOML'}.`);
  const entries = entriesOf(document, client.member);
  let edited = text.trim() === '' && client.form === 'json' ? '{}\n' : text;
  const changes: JsonObject = {};
  for (const [server, { before, entry }] of wantedOf(entries, command, options)) {
    const after = wrapEntry(server, entry, proxyProgram());
    if (after === null) {
      remark(`The proxy stands in front of ${server} already.`);
      continue;
    }
    if (JSON.stringify(before) === JSON.stringify(after)) continue;
    changes[server] = after;
    const place = [client.member, server] as const;
    const next =
      client.form === 'json'
        ? withEntry(edited, place, before, after)
        : withTable(edited, place, before, after);
    if (next === null)
      throw new UsageError(
        `The table of ${server} in ${path} is written so that it has to be changed by hand.`,
      );
    edited = next;
  }
  if (Object.keys(changes).length === 0) return remark(`Nothing in ${path} has to be changed.`);
  print(
    client.form === 'json'
      ? JSON.stringify({ [client.member]: changes }, null, 2)
      : (withTables(client.member, changes) ?? edited),
  );
  if (options.write) write(path, edited);
  else remark(`This would change ${path}. Make the change with --write.`);
}

interface Wanted {
  /** The entry as it is configured; null if there is none. */
  readonly before: JsonObject | null;
  /** The entry of the server itself. */
  readonly entry: JsonObject;
}

function wantedOf(
  entries: JsonObject,
  command: readonly string[],
  { name, server, all }: InstallOptions,
): Map<string, Wanted> {
  const [program, ...args] = command;
  const given =
    server === undefined ? program !== undefined && { command: program, args } : { url: server.href };
  if (program !== undefined && server !== undefined)
    throw new UsageError('Give a command or --server, not both.');
  if (all) {
    if (given || name !== undefined)
      throw new UsageError('--all stands alone: it takes the servers that are configured.');
    return new Map(
      Object.entries(entries).flatMap(([one, entry]) =>
        isObject(entry) ? [[one, { before: entry, entry }]] : [],
      ),
    );
  }
  if (name === undefined)
    throw new UsageError('Name the server with --name, or take all that are configured with --all.');
  const found = entries[name];
  const before = isObject(found) ? found : null;
  if (given) {
    const { command: _command, args: _args, url: _url, ...rest } = before ?? {};
    return new Map([[name, { before, entry: { ...rest, ...given } }]]);
  }
  if (before === null)
    throw new UsageError(`No server ${name} is configured. Give its command after --, or its --server URL.`);
  return new Map([[name, { before, entry: before }]]);
}

/** By absolute paths: programs with windows do not have the PATH of a shell. */
function proxyProgram(): ProxyProgram {
  return { command: process.execPath, args: [fileURLToPath(new URL('../../bin/tally.js', import.meta.url))] };
}

function withTables(member: string, changes: JsonObject): string | null {
  return Object.entries(changes).reduce<string | null>(
    (text, [name, entry]) =>
      text !== null && isObject(entry) ? withTable(text, [member, name], null, entry) : null,
    '',
  );
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw unreadable(path, error);
  }
}

/** Writes the file, and keeps what it was beside it. */
function write(path: string, text: string): void {
  if (!existsSync(path)) {
    try {
      mkdirSync(dirname(path), { recursive: true });
    } catch (error) {
      throw unwritable(path, error);
    }
    writeAtomically(path, text, 0o600);
    return remark(`Made ${path}.`);
  }
  // A link stays one.
  const file = realpathSync(path);
  const copy = `${file}.${formatTimestamp(Date.now()).replaceAll(/[-:.]/g, '')}.backup`;
  copyFileSync(file, copy);
  writeAtomically(file, text, statSync(file).mode & 0o777);
  remark(`Changed ${path}. It was copied to ${copy} before.`);
}
