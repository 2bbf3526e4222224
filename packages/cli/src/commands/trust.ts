import { checkTrustBundle, isObject, type JsonValue, TallyError, type TrustBundle } from '@tallystick/core';
import { type Command, Option } from 'commander';
import { writeOut } from '../files.ts';
import { nameOf, readJson } from '../input.ts';
import { paint, print, printJson, remark, UsageError } from '../output.ts';
import { printable } from '../printable.ts';
import { DEFAULT_URL, serviceAt, serviceUrl } from '../service.ts';
import { forgetStatus } from '../status/last-seen.ts';
import { rootFingerprintOption } from '../trust-sources.ts';
import {
  allSavedTrust,
  forgetTrust,
  type SavedTrust,
  savedTrust,
  saveTrust,
  trustFile,
} from '../trust-store.ts';

type Checked = Awaited<ReturnType<typeof checkTrustBundle>>;

/** `tally trust`: manages the trust bundles of services, and, for operators, publishes one. */
export function trustCommands(program: Command): void {
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
        'that is older, expired or of another root is refused, and the saved one stays. A development server that is ' +
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
    .command('show')
    .summary('show the saved bundles, or one in a file')
    .description('Shows the saved bundles, or the bundle in a file, whether expired or not.')
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
  const { text, json: body } = await serviceAt(url).get('/.well-known/trust.json');
  const expected = { now: Date.now(), pin: before?.pin, root: options.root };
  const checked = await checkTrustBundle(body, expected).catch((error: unknown) => {
    throw refused(error, url, before !== null);
  });
  const file = saveTrust({ url, ...checked });
  // A service that was set up anew numbers its status documents from the start again.
  if (options.replace) forgetStatus(url);
  if (options.out !== undefined) writeOut(options.out, `${text}\n`);
  if (options.json) return printJson({ url, file, root: checked.pin.root, bundle: checked.bundle });
  show(checked);
  if (before === null && options.root === undefined) {
    remark(
      'First fetch: the root is pinned from now on. Compare its fingerprint with one that you got another way.',
    );
  }
  remark(`Saved to ${file}.`);
}

/** @throws trust_root_mismatch when --root gives another root than the one that is pinned */
function assertPin(url: string, before: SavedTrust | null, root: string | undefined): void {
  const pinned = before?.pin.root;
  if (root === undefined || pinned === undefined || pinned === root) return;
  throw new TallyError(
    'trust_root_mismatch',
    `${url}: the pinned root is ${pinned}, not ${root} as --root says. If the service really changed its root: tally trust fetch --replace ${url}`,
  );
}

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
    else show(checked);
    return;
  }
  const { saved, refused: damaged } = allSavedTrust();
  if (json) {
    const list = saved.map(({ url, pin, bundle }) => ({ url, file: trustFile(url), root: pin.root, bundle }));
    return printJson({ saved: list, refused: damaged });
  }
  for (const one of saved) {
    print(`${paint('bold', 'service')}  ${printable(one.url)}`);
    show(one);
  }
  for (const { reason } of damaged) remark(reason);
  if (saved.length === 0) remark('No trust is saved. Fetch it once: tally trust fetch <url of the service>');
}

/** Checks everything but the expiry, which `show` prints. */
function checkShown(document: JsonValue, name: string): Promise<Checked> {
  const bundle = isObject(document) && isObject(document.bundle) ? document.bundle : document;
  return checkTrustBundle(bundle, { now: 0 }).catch((error: unknown) => {
    if (!(error instanceof TallyError)) throw error;
    throw new TallyError(error.code, `${name}: ${error.message}`, { field: error.field, cause: error });
  });
}

function show({ bundle, pin }: Pick<Checked, 'bundle' | 'pin'>): void {
  print(`${paint('bold', 'root')}     ${pin.root}`);
  print(`${paint('bold', 'version')}  ${bundle.version}, issued ${bundle.issued_at}, ${expiry(bundle)}`);
  for (const issuer of bundle.issuers) {
    print(`${paint('bold', 'issuer')}   ${printable(issuer.did)}  ${issuer.status}`);
    for (const key of issuer.keys)
      print(`           ${key.purpose.padEnd(10)} ${key.state.padEnd(8)} ${printable(key.key_id)}`);
  }
}

function expiry({ expires_at }: TrustBundle): string {
  const expired = Date.parse(expires_at) <= Date.now();
  return expired ? paint('red', `expired ${expires_at}`) : `expires ${expires_at}`;
}
