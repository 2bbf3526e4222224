import {
  COMMITMENT_LABELS,
  type CommitmentLabel,
  checkOpening,
  fromHex,
  isObject,
  type JsonObject,
  type JsonValue,
  openingKey,
  TallyError,
  toHex,
  type Verification,
} from '@tallystick/core';
import { readJson } from '../input.ts';
import { UsageError } from '../output.ts';
import type { BillSecrets } from './salt-file.ts';

const OPENING_TYPE = 'svc-metering-opening-v1';
const MEMBERS = ['label', 'subkey', 'type', 'value'].join();

/** The opening of one commitment of a receipt (spec/metering.md, Opening a commitment). */
export interface OpeningDocument {
  readonly label: CommitmentLabel;
  /** Key of the label: 32 bytes. */
  readonly subkey: Uint8Array;
  readonly value: string;
}

/** The opening of one label, as JSON to hand out. @throws UsageError if the bill has no such commitment */
export function openingFor({ salt, values }: BillSecrets, label: CommitmentLabel): JsonObject {
  const value = values[label];
  if (value === undefined) throw new UsageError(`The bill has no ${label}: it was minted without one.`);
  return { type: OPENING_TYPE, label, subkey: toHex(openingKey(salt, label)), value };
}

/** Reads an opening from a file. @throws UsageError when it cannot be read; json_*, invalid_field, invalid_hex */
export async function readOpening(path: string): Promise<OpeningDocument> {
  const file = await readJson(path);
  const label = isObject(file) ? COMMITMENT_LABELS.find((known) => known === file.label) : undefined;
  if (
    !isObject(file) ||
    Object.keys(file).sort().join() !== MEMBERS ||
    file.type !== OPENING_TYPE ||
    label === undefined ||
    typeof file.subkey !== 'string' ||
    typeof file.value !== 'string'
  ) {
    throw new TallyError('invalid_field', `${path} is not an opening, as tally meter open gives it.`);
  }
  return { label, subkey: fromHex(file.subkey, 32), value: file.value };
}

/** Checks whether the opening opens the receipt's commitment. @param receipt a metering receipt of valid form */
export function openingCheck(receipt: JsonValue, opening: OpeningDocument): Verification['checks'][number] {
  const { label, subkey, value } = opening;
  const name = 'opening';
  const commitment = commitmentIn(receipt, label);
  if (commitment === null) return { name, ok: false, detail: `The receipt has no commitment to a ${label}.` };
  return checkOpening({ subkey, value, commitment })
    ? { name, ok: true, detail: `The receipt commits to the ${label} “${value}”.` }
    : {
        name,
        ok: false,
        detail: `The receipt’s ${label} is a different one, or the key does not belong to this commitment.`,
      };
}

function commitmentIn(receipt: JsonValue, label: CommitmentLabel): string | null {
  const body = memberOf(receipt, 'signed_body');
  const commitment = {
    machine: memberOf(body, 'machine_commitment'),
    customer: memberOf(body, 'customer_commitment'),
    rate: memberOf(memberOf(body, 'rate'), 'rate_commitment'),
    settlement: memberOf(memberOf(body, 'settlement_binding'), 'settlement_commitment'),
  }[label];
  return typeof commitment === 'string' ? commitment : null;
}

const memberOf = (value: JsonValue, name: string): JsonValue => (isObject(value) && value[name]) || null;
