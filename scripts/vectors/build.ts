import { toBase64url, toHex } from '../../packages/core/src/index.ts';
import { anchorRefCases } from './anchor-refs.ts';
import { anchoredHashCases } from './anchored-hash.ts';
import { anchorCases } from './anchors.ts';
import { benchmarkCases } from './benchmark.ts';
import { callFiles } from './calls.ts';
import { checkpointCases } from './checkpoints.ts';
import { commitmentCases } from './commitments.ts';
import { correctionCases } from './corrections.ts';
import { countersignatureCases } from './countersignatures.ts';
import { currencyCodes } from './currencies.ts';
import { ed25519Cases } from './ed25519.ts';
import { encodingCases } from './encodings.ts';
import { envelopeCases } from './envelope.ts';
import { foreignActaCases } from './foreign-acta.ts';
import { foreignDsseCases } from './foreign-dsse.ts';
import { foreignOtherCases } from './foreign-others.ts';
import { foreignTlogProofCases } from './foreign-tlog-proof.ts';
import { foreignX402Cases } from './foreign-x402.ts';
import { gateCases } from './gate.ts';
import { issueCases } from './issue.ts';
import { issuerCases } from './issuers.ts';
import { keyNames, seedOf, signers } from './keys.ts';
import { legacyCases } from './legacy.ts';
import { messageSignatureCases } from './message-signatures.ts';
import { meteringCases } from './metering.ts';
import { mlDsaCosignatureCases } from './ml-dsa-cosignatures.ts';
import { nanoCases } from './nano.ts';
import { pqCases } from './pq.ts';
import { rawCases } from './raw.ts';
import { recipientCases } from './recipients.ts';
import { openedValueCases, saltedHashCases, sessionCases } from './sessions.ts';
import { settlementCases } from './settlements.ts';
import { standardCases } from './standard.ts';
import { statementCases } from './statements.ts';
import { statusCases } from './status.ts';
import { stores } from './stores.ts';
import { streamCases } from './streams.ts';
import { tlogProofCases } from './tlog-proofs.ts';
import { trustCases } from './trust.ts';
import { trustChangeCases } from './trust-changes.ts';
import { trustForkCases } from './trust-forks.ts';
import { witnessPolicyCases } from './witness-policies.ts';

/** Every file of spec/vectors by name, with its text: the same texts each time, since nothing here is random or reads a clock. */
export async function buildVectors(): Promise<Map<string, string>> {
  const contents: Record<string, unknown> = {
    'anchor-refs.json': anchorRefCases(),
    'anchors.json': await anchorCases(),
    'anchored-hash.json': await anchoredHashCases(),
    'benchmark.json': await benchmarkCases(),
    ...(await callFiles()),
    'checkpoints.json': await checkpointCases(),
    'commitments.json': commitmentCases(),
    'corrections.json': await correctionCases(),
    'countersignatures.json': await countersignatureCases(),
    'currencies.json': currencyCodes(),
    'ed25519.json': ed25519Cases(),
    'encodings.json': encodingCases(),
    'envelope.json': await envelopeCases(),
    'foreign-acta.json': await foreignActaCases(),
    'foreign-dsse.json': await foreignDsseCases(),
    'foreign-others.json': foreignOtherCases(),
    'foreign-tlog-proof.json': await foreignTlogProofCases(),
    'foreign-x402.json': await foreignX402Cases(),
    'issue.json': await issueCases(),
    'issuer-stores.json': stores,
    'issuers.json': await issuerCases(),
    'json-gate.json': gateCases(),
    'keys.json': keys(),
    'legacy.json': await legacyCases(),
    'message-signatures.json': await messageSignatureCases(),
    'metering.json': await meteringCases(),
    'ml-dsa-cosignatures.json': await mlDsaCosignatureCases(),
    'nano.json': await nanoCases(),
    'pq.json': await pqCases(),
    'raw.json': await rawCases(),
    'recipients.json': recipientCases(),
    'session-hashes.json': saltedHashCases(),
    'session-openings.json': await openedValueCases(),
    'sessions.json': await sessionCases(),
    'settlements.json': await settlementCases(),
    'standard.json': await standardCases(),
    'statements.json': await statementCases(),
    'status.json': await statusCases(),
    'streams.json': await streamCases(),
    'tlog-proofs.json': await tlogProofCases(),
    'trust.json': await trustCases(),
    'trust-changes.json': await trustChangeCases(),
    'trust-forks.json': await trustForkCases(),
    'witness-policies.json': await witnessPolicyCases(),
  };
  return new Map(
    Object.entries(contents).map(([name, content]) => [name, `${JSON.stringify(content, null, 2)}\n`]),
  );
}

/** The keys behind all vectors with their seeds, so that other implementations can compare signatures byte for byte. */
function keys(): unknown[] {
  return keyNames.map((name) => ({
    name,
    seed: toHex(seedOf(name)),
    public_key: toBase64url(signers[name].publicKey),
    key_id: signers[name].keyId,
  }));
}
