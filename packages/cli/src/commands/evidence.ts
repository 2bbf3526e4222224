import type { Command } from 'commander';
import type { BundleFlags } from '../evidence/verify.ts';
import type { Exit } from '../output.ts';
import { trustOptions } from '../verify-options.ts';
import { witnessPolicyOption } from '../witness-policy.ts';

/** `tally evidence`: verifies bundles from evidence rooms, without a network. */
export function evidenceCommands(program: Command, finish: (exit: Exit) => void): void {
  const evidence = program
    .command('evidence')
    .summary('evidence bundles')
    .description('Bundles of a tenant’s receipts, exported by a service (GET /tenants/{id}/evidence).');

  witnessPolicyOption(
    trustOptions(
      evidence
        .command('verify')
        .summary('verify a bundle, offline')
        .description(
          'Verifies an evidence bundle as it came, not unpacked: the archive, the signed manifest, every file, every receipt and its anchor. Holds one file of the bundle in memory at a time.',
        )
        .argument('<file>', 'bundle.zip'),
    ),
  )
    .option('--json', 'the verdict as JSON')
    .addHelpText('after', HELP)
    .action(async (file: string, options: BundleFlags) =>
      finish(await (await import('../evidence/verify.ts')).verifyEvidence(file, options)),
    );
}

const HELP = `
A bundle can't vouch for itself: the root's fingerprint has to come from
elsewhere, by --root, or from trust that was saved before (tally trust fetch).

Exit status:
  0  intact, and signed under a known root
  1  refused; the reason is one of spec/evidence.md. Or not complete: a
     receipt that the signed heads count is missing, or one is added
  2  wrong usage, or a file that can't be read
  3  intact, but signed under an unknown root, or an anchor is of no log
     that the trust lists, or the witnesses of --witness-policy are not
     enough for each anchored receipt

Examples:
  $ curl -fH "Authorization: Bearer $KEY" -o bundle.zip \\
      "$TALLY_URL/tenants/$TENANT/evidence?from=2027-01-01"
  $ tally evidence verify bundle.zip --root sha256:…
  $ tally evidence verify bundle.zip --json | jq .receipts`;
