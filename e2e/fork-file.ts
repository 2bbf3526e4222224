import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createSigner,
  type ForkFile,
  foldNodes,
  forkOf,
  inclusionProof,
  leafHash,
  merkleRoot,
  type Signer,
  signCheckpoint,
  subproofNodes,
  toHex,
  utf8,
  verifierKey,
  verifyFork,
} from '@tallystick/core';
import { expect } from 'vitest';

const PAGE = new URL('../docs/fork-file.md', import.meta.url);
const ORIGIN = 'log.example';

/** The program on the page in this language. */
export function programIn(language: 'go' | 'python'): string {
  const [, code = ''] =
    new RegExp(`\`\`\`${language} run\\n([\\s\\S]*?)\`\`\``).exec(readFileSync(PAGE, 'utf8')) ?? [];
  return code;
}

/** Builds the page's Go program into a folder. Returns its path. */
export function buildGoProgram(folder: string): string {
  const source = join(folder, 'fork.go');
  writeFileSync(source, programIn('go'));
  const program = join(folder, 'fork');
  execFileSync('go', ['build', '-o', program, source], { cwd: folder });
  return program;
}

const leavesOf = (count: number, forged = -1): Uint8Array[] =>
  Array.from({ length: count }, (_, index) =>
    leafHash(utf8(`leaf ${index}${index === forged ? ', forged' : ''}`)),
  );

const noteOf = (leaves: readonly Uint8Array[], signer: Signer): Promise<string> =>
  signCheckpoint({ origin: ORIGIN, size: leaves.length, root: merkleRoot(leaves) }, signer);

const subproof = (leaves: readonly Uint8Array[], from: number): Uint8Array[] =>
  subproofNodes(from, leaves.length).map((nodes) =>
    foldNodes(
      nodes.map(({ level, index }) => merkleRoot(leaves.slice(index * 2 ** level, (index + 1) * 2 ** level))),
    ),
  );

const place = (leaves: readonly Uint8Array[], index: number) => ({
  leaf_hash: toHex(leaves[index] ?? new Uint8Array()),
  path: inclusionProof(leaves, index).map(toHex),
});

/** A fork file, and whether it proves a fork. */
interface Case {
  readonly name: string;
  readonly file: ForkFile;
  readonly proves: boolean;
}

/** Fork files of each kind and of many sizes, and files that prove nothing. */
async function forkFiles(): Promise<readonly Case[]> {
  const signer = await createSigner(new Uint8Array(32).fill(1));
  const stranger = await createSigner(new Uint8Array(32).fill(2));
  const log = verifierKey(ORIGIN, signer.publicKey);
  const fileOf = async (
    [smaller, larger]: readonly [Uint8Array[], Uint8Array[]],
    proof: ForkFile['proof'],
  ): Promise<ForkFile> => ({
    type: 'svc-log-fork-v1',
    log,
    smaller: await noteOf(smaller, signer),
    larger: await noteOf(larger, signer),
    proof,
  });
  const byLeaves = (
    index: number,
    small: readonly Uint8Array[],
    large: readonly Uint8Array[],
  ): ForkFile['proof'] => ({
    kind: 'leaves',
    index,
    in_smaller: place(small, index),
    in_larger: place(large, index),
  });

  const good: Case[] = [];
  for (const size of [1, 2, 7]) {
    const notes = [await noteOf(leavesOf(size), signer), await noteOf(leavesOf(size, 0), signer)] as const;
    good.push({ name: `roots over ${size}`, file: await forkOf({ log, notes }), proves: true });
  }
  for (const [from, to] of [
    [1, 2],
    [3, 7],
    [4, 8],
    [6, 13],
    [8, 9],
  ] as const) {
    const [small, large] = [leavesOf(from, from - 1), leavesOf(to)] as const;
    const notes = [await noteOf(small, signer), await noteOf(large, signer)] as const;
    const name = `from ${from} to ${to}`;
    good.push({
      name: `subtrees ${name}`,
      file: await forkOf({ log, notes }, subproof(large, from)),
      proves: true,
    });
    good.push({
      name: `leaves ${name}`,
      file: await fileOf([small, large], byLeaves(from - 1, small, large)),
      proves: true,
    });
  }

  const [three, seven] = [leavesOf(3), leavesOf(7)] as const;
  const forged = leavesOf(3, 2);
  const nodes = subproof(seven, 3).map(toHex);
  const shifted = (nodes[0] ?? '').concat((nodes[1] ?? '').slice(0, 2));
  const fork = await fileOf([forged, seven], { kind: 'subtrees', path: nodes });
  const signature = (note: string, change: (line: string) => string): string =>
    note.replace(/— \S+ (\S+)/, change);
  const bad: Record<string, ForkFile> = {
    'one size and one root': await fileOf([three, three], { kind: 'roots' }),
    'roots over two sizes': await fileOf([three, seven], { kind: 'roots' }),
    'the same leaf': await fileOf([three, seven], byLeaves(1, three, seven)),
    'a leaf of another index': await fileOf([three, seven], {
      ...byLeaves(1, three, seven),
      in_larger: place(seven, 2),
    }),
    'a leaf past the end': await fileOf([three, seven], { ...byLeaves(2, three, seven), index: 3 }),
    'a path that is too short': await fileOf([forged, seven], {
      ...byLeaves(2, forged, seven),
      in_larger: { ...place(seven, 2), path: place(seven, 2).path.slice(1) },
    }),
    growth: await fileOf([three, seven], { kind: 'subtrees', path: nodes }),
    'growth, with a byte moved to the neighbour': await fileOf([leavesOf(1), leavesOf(2)], {
      kind: 'subtrees',
      path: [
        toHex(leavesOf(2)[0] ?? new Uint8Array()).concat(
          toHex(leavesOf(2)[1] ?? new Uint8Array()).slice(0, 2),
        ),
        toHex(leavesOf(2)[1] ?? new Uint8Array()).slice(2),
      ],
    }),
    'nodes of another tree': await fileOf([forged, leavesOf(7, 6)], { kind: 'subtrees', path: nodes }),
    'a node too few': { ...fork, proof: { kind: 'subtrees', path: nodes.slice(1) } },
    'a node too many': { ...fork, proof: { kind: 'subtrees', path: [...nodes, shifted.slice(0, 64)] } },
    'no nodes': { ...fork, proof: { kind: 'subtrees', path: [] } },
    'a signature of another text': {
      ...fork,
      smaller: fork.smaller.replace('\n3\n', '\n4\n'),
    },
    'a wrong signature': {
      ...fork,
      larger: signature(fork.larger, (line) => line.replace(/.{5}$/, 'AAAA=')),
    },
    'a checkpoint that another key signed': { ...fork, smaller: await noteOf(forged, stranger) },
    'another key': { ...fork, log: verifierKey(ORIGIN, stranger.publicKey) },
    'a checkpoint without a signature': { ...fork, smaller: signature(fork.smaller, () => '') },
  };
  return [...good, ...Object.entries(bad).map(([name, file]) => ({ name, file, proves: false }))];
}

/** Expects of a program that it takes the files that prove a fork, and refuses the others, as core does. */
export async function expectJudgesForks(
  command: readonly [string, ...string[]],
  folder: string,
): Promise<void> {
  const found: Record<string, unknown> = {};
  const expected: Record<string, unknown> = {};
  for (const { name, file, proves } of await forkFiles()) {
    const byCore = await verifyFork(file).then(
      () => true,
      () => false,
    );
    expect(byCore, name).toBe(proves);
    const path = join(folder, 'fork.json');
    writeFileSync(path, JSON.stringify(file));
    const [program, ...args] = command;
    const { status, stdout, stderr } = spawnSync(program, [...args, path], { encoding: 'utf8' });
    found[name] = { status, stdout, refused: /^No proof of a fork: ./.test(stderr) };
    const said = `Proves that this log forked: ${file.log}\n`;
    expected[name] = { status: proves ? 0 : 1, stdout: proves ? said : '', refused: !proves };
  }
  expect(found).toEqual(expected);
}
