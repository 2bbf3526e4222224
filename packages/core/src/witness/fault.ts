import { TallyError } from '../errors.ts';

/** Why a text is not a witness policy: stable names (spec/anchor.md). */
export const POLICY_REASONS = [
  'too_long',
  'control_character',
  'unknown_keyword',
  'field_count',
  'key_malformed',
  'key_type',
  'duplicate_key',
  'reserved_name',
  'duplicate_name',
  'threshold',
  'unknown_name',
  'member_twice',
  'quorum_twice',
  'quorum_missing',
] as const;
export type PolicyReason = (typeof POLICY_REASONS)[number];

/** Thrown for a text that is not a witness policy. `line` counts from 1; null if the fault is of the whole text. */
export class PolicyFault extends TallyError {
  readonly reason: PolicyReason;
  readonly line: number | null;

  constructor(reason: PolicyReason, message: string, line: number | null = null) {
    super('witness_policy_invalid', line === null ? message : `Line ${line}: ${message}`);
    this.reason = reason;
    this.line = line;
  }
}
