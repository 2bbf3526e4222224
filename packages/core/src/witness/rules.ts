import type { VerifierKey } from '../log/verifier-key.ts';

/** Key of a witness, with its id (C2SP signed-note). */
interface WitnessKey extends VerifierKey {
  readonly keyHash: number;
}

/** Witness of a policy: its name there, and its key, or null if the key is of a type that is not known here. */
export interface PolicyWitness {
  readonly name: string;
  readonly key: WitnessKey | null;
}

/** Group of witnesses and of other groups: it has witnessed a checkpoint once `threshold` of its members have. */
export interface PolicyGroup {
  readonly name: string;
  readonly threshold: number;
  readonly members: readonly string[];
}

/** Rules of a policy, as `judge` needs them. */
export interface Rules {
  readonly logs: readonly VerifierKey[];
  readonly witnesses: readonly PolicyWitness[];
  readonly groups: readonly PolicyGroup[];
  readonly quorum: string | null;
}
