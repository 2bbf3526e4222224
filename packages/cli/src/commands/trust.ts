import {
  checkTrustBundle,
  type JsonValue,
  readSavedBundle,
  TallyError,
  type TrustBundle,
} from '@tallystick/core';
import { type Command, Option } from 'commander';
import { writeOut } from '../files.ts';
import { nameOf, readJson } from '../input.ts';
import { type Exit, paint, print, printJson, remark, UsageError } from '../output.ts';
import { printable } from '../printable.ts';
import { DEFAULT_URL, serviceAt, serviceUrl } from '../service.ts';
import { forgetStatus } from '../status/last-seen.ts';
import { type AuditOptions, auditTrust, keptFaults, MOST_VERSIONS, walkTrust } from '../trust/audit.ts';
import { saveTrustFork, verifyTrustForkFile } from '../trust/fork.ts';
import { showBundle } from '../trust/show.ts';
import { rootFingerprintOption } from '../trust-sources.ts';
import {
  allSavedTrust,
  assertPin,
  forgetTrust,
  type SavedTrust,
  savedTrust,
  saveTrust,
  trustFile,
} from '../trust-store.ts';

type Checked = Awaited<ReturnType<typeof checkTrustBundle>>;

/** `tally trust`: manages the trust bundles of services, and, for operators, publishes one. */
export function trustCommands(program: Command, finish: (exit: Exit) => void): void {
  const trust = program
    .command('trust')
    .summary('fetch, show and publish trust bundles')
    .description(
      'A trust bundle is a service’s signed list of issuers and keys. Fetch it once; from then on verifying needs no network. ' +
        'draft, sign, publish and approve are for the operator of a service.',
    );

  trust
    .command('fetch')
    .summary('fetch a service’s bundle, check it and save it')
    .description(
      'Fetches a service’s bundle and saves it for `tally verify`. The first fetch pins the root. After that, a bundle ' +
        'that is older, expired, of another root or of another line than the saved one is refused, and the saved one stays. A development server that is ' +
        'set up anew has another root: --replace accepts it.',
    )
    .addArgument(
      program
        .createArgument('[url]', 'the service (default: TALLY_URL, or this machine)')
        .argParser(serviceUrl),
    )
    .option(
      '--root <fingerprint>',
      'the fingerprint that you expect of the root (sha256:…)',
      rootFingerprintOption,
    )
    .option('--replace', 'forget the pinned root, and pin the current root of the service')
    .option('--out <file>', 'write the bundle to a file too, to carry it elsewhere')
    .option('--json', 'as JSON')
    .addHelpText('after', FETCH_HELP)
    .action(fetchTrust);

  trust
    .command('audit')
    .summary('check that a service’s bundles are one line')
    .description(
      'Walks the bundles of a service from the newest to the first: each must be signed by the root and be the one that the next ' +
        'names, and no log, account or key may vanish without being in the history. Compares them with the bundle that this ' +
        'machine keeps, and writes a proof where two contradict each other.',
    )
    .addArgument(
      program
        .createArgument('[url]', 'the service (default: TALLY_URL, or this machine)')
        .argParser(serviceUrl),
    )
    .option(
      '--root <fingerprint>',
      'the fingerprint that you expect of the root (sha256:…)',
      rootFingerprintOption,
    )
    .option('--to-kept', 'end at the bundle that this machine keeps, not at the first')
    .option(
      '--most <versions>',
      `the most versions before the newest to ask for (default: ${MOST_VERSIONS})`,
      atLeastOne,
    )
    .option(
      '--fork-out <file>',
      'file for the proof of a fork (default: in the folder trust-forks of the tally home)',
    )
    .option('--json', 'as JSON')
    .addHelpText('after', AUDIT_HELP)
    .action(async (url: string | undefined, options: AuditOptions) =>
      finish(await auditTrust(url ?? serviceUrl(process.env.TALLY_URL || DEFAULT_URL), options)),
    );

  trust
    .command('fork')
    .summary('check a proof that a root contradicts itself')
    .description(
      'Proofs that a root signed two bundles that contradict each other, as tally trust audit writes them.',
    )
    .command('verify')
    .summary('check a fork file, offline')
    .description(
      'Checks a fork file by itself: both signatures by the root, and what contradicts. Compare the root with that of the service that you mean.',
    )
    .argument('<file>', 'the fork file')
    .option('--json', 'as JSON')
    .addHelpText('after', FORK_HELP)
    .action(async (file: string, { json }: { json?: boolean }) =>
      finish(await verifyTrustForkFile(file, json === true)),
    );

  trust
    .command('show')
    .summary('show the saved bundles, or one in a file')
    .description(
      'Shows the saved bundles, or the bundle in a file, whether expired or not: its log, posting account and keys, the earlier ones ' +
        'in its history with their times, and the hash of the bundle before it.',
    )
    .argument('[file]', 'a bundle: a file, or - for standard input')
    .option('--json', 'as JSON')
    .action(showTrust);

  trust
    .command('forget')
    .summary('remove a service’s bundle and its pin')
    .description(
      'Removes the saved bundle of a service, its pin, and the status last seen there. The next fetch pins a root anew, so pass the expected one with --root.',
    )
    .addArgument(program.createArgument('<url>', 'the service').argParser(serviceUrl))
    .addOption(new Option('--json', 'as JSON'))
    .action((url: string, { json }: { json?: boolean }) => {
      if (!forgetTrust(url))
        throw new UsageError(`No bundle of ${url} is saved. List the saved ones with: tally trust show`);
      forgetStatus(url);
      if (json) printJson({ url, forgotten: true });
      else remark(`Removed the bundle and the pin of ${url}.`);
    });
}

const AUDIT_HELP = `
Exit status: 0 one line, 1 something contradicts, 2 wrong usage, 3 nothing
contradicts, but the line does not reach its end, because a bundle is not kept
or names none before it.`;

const FORK_HELP = `
Exit status: 0 it proves a fork, 1 it proves none, 2 wrong usage.`;

const FETCH_HELP = `
Examples:
  $ tally trust fetch https://receipts.example.com --root sha256:9f86d081…
  $ tally trust fetch --out bundle.json   to verify on a machine without network`;

async function fetchTrust(
  chosenUrl: string | undefined,
  options: { root?: string; replace?: boolean; out?: string; json?: boolean },
): Promise<void> {
  const url = chosenUrl ?? serviceUrl(process.env.TALLY_URL || DEFAULT_URL);
  const before = options.replace ? null : savedTrust(url);
  assertPin(url, before, options.root);
  const service = serviceAt(url);
  const { text, json: body } = await service.get('/.well-known/trust.json');
  const expected = { now: Date.now(), pin: before?.pin, root: options.root };
  const checked = await checkTrustBundle(body, expected).catch(async (error: unknown) => {
    if (before !== null && error instanceof TallyError && error.code === 'trust_rollback')
      await proveFork(body, before);
    throw refused(error, url, before !== null);
  });
  if (before !== null) await followLine(service, checked.bundle, before, url);
  const file = saveTrust({ url, ...checked });
  // A service that was set up anew numbers its status documents from the start again.
  if (options.replace) forgetStatus(url);
  if (options.out !== undefined) writeOut(options.out, `${text}\n`);
  if (options.json) return printJson({ url, file, root: checked.pin.root, bundle: checked.bundle });
  showBundle(checked);
  if (before === null && options.root === undefined) {
    remark(
      'First fetch: the root is pinned from now on. Compare its fingerprint with one that you got another way.',
    );
  }
  remark(`Saved to ${file}.`);
}

/**
 * Follows the hashes from a newer bundle to the saved one, so that a second line is refused also where it skips versions.
 * @throws trust_rollback when it is another line
 */
async function followLine(
  service: ReturnType<typeof serviceAt>,
  newest: TrustBundle,
  kept: SavedTrust,
  url: string,
): Promise<void> {
  const { version } = kept.bundle;
  const walked = await walkTrust(service, newest, { kept, end: version }).catch((error: unknown) => {
    if (!(error instanceof TallyError)) throw error;
    return { missing: error.message, faults: keptFaults(kept, newest), fork: null };
  });
  const { faults, missing, fork } = walked;
  if (fork !== null) remarkFork(fork);
  const other = faults.find(({ code }) => code === 'fork' || code === 'unlinked');
  if (other !== undefined) throw refused(new TallyError('trust_rollback', other.detail), url, true);
  for (const { code, detail } of faults) if (code === 'vanished') remark(detail);
  if (missing !== null)
    remark(`Nothing shows that the bundle follows version ${version}, which was saved before: ${missing}`);
}

/** Reads the value of `--most`. @throws UsageError if it is no whole number from 1 */
function atLeastOne(text: string): number {
  if (/^[1-9]\d{0,14}$/.test(text)) return Number(text);
  throw new UsageError(`“${text}” is not a whole number from 1.`);
}

/** Writes the proof where the service's bundle and the saved one are a fork. */
async function proveFork(body: JsonValue, { pin, bundle }: SavedTrust): Promise<void> {
  const served = await checkTrustBundle(body, { now: 0, root: pin.root });
  const file = await saveTrustFork([bundle, served.bundle]);
  if (file !== null) remarkFork(file);
}

const remarkFork = (file: string): void =>
  remark(
    `The root contradicts itself. The proof is in ${file}. Check it anywhere: tally trust fork verify ${file}`,
  );

function refused(error: unknown, url: string, kept: boolean): unknown {
  if (!(error instanceof TallyError)) return error;
  const stays = kept ? ' The saved bundle was kept.' : ' Nothing was saved.';
  const advice =
    error.code === 'trust_root_mismatch' && kept
      ? ` If the service was set up anew: tally trust fetch --replace ${url}`
      : '';
  return new TallyError(error.code, `${url}: ${error.message}${stays}${advice}`, {
    field: error.field,
    cause: error,
  });
}

async function showTrust(file: string | undefined, { json }: { json?: boolean }): Promise<void> {
  if (file !== undefined) {
    const document = await readJson(file);
    const checked = await checkShown(document, nameOf(file));
    if (json) printJson({ root: checked.pin.root, bundle: checked.bundle });
    else showBundle(checked);
    return;
  }
  const { saved, refused: damaged } = allSavedTrust();
  if (json) {
    const list = saved.map(({ url, pin, bundle }) => ({ url, file: trustFile(url), root: pin.root, bundle }));
    return printJson({ saved: list, refused: damaged });
  }
  for (const one of saved) {
    print(`${paint('bold', 'service')}  ${printable(one.url)}`);
    showBundle(one);
  }
  for (const { reason } of damaged) remark(reason);
  if (saved.length === 0) remark('No trust is saved. Fetch it once: tally trust fetch <url of the service>');
}

/** Checks everything but the expiry, which `showBundle` prints. */
async function checkShown(document: JsonValue, name: string): Promise<Checked> {
  try {
    const { bundle, pin } = readSavedBundle(document);
    return await checkTrustBundle(bundle, { now: 0, pin });
  } catch (error) {
    if (!(error instanceof TallyError)) throw error;
    throw new TallyError(error.code, `${name}: ${error.message}`, { field: error.field, cause: error });
  }
}
