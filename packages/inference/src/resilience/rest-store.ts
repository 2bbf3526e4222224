/** A model's rest, as one process tells the others. */
export interface ToldRest {
  /** `<provider>/<the provider's own name for the model>`. */
  readonly model: string;
  /** The kind of failure that it rests for; `gone` where the provider has no such model. */
  readonly why: string;
  readonly remainingMs: number;
}

/** Why a model rests, or does not, by order of the operator. */
export const ORDERS = { rest: 'rested_by_operator', resume: 'resumed_by_operator' } as const;

/**
 * What processes of one database tell each other of models that rest. Errors and ordering are those of `Store`. Times
 * are told by the database's clock, so that the clocks of the machines do not matter. Durability: a write survives the
 * process, but not always the machine.
 */
export interface RestStore {
  /** Replaces what a process told, and deletes what has ended, whoever told it. @param rests one for each model */
  tell(process: string, rests: readonly ToldRest[]): Promise<void>;
  /** What other processes told and has not ended: at most 10,000 rests, maybe several of one model. */
  toldByOthers(process: string): Promise<ToldRest[]>;
  /** Tells all processes what the operator decides: `why` is one of `ORDERS`. A later order for a model replaces an earlier one. */
  order(rests: readonly ToldRest[]): Promise<void>;
  /** The operator's orders that have not ended. */
  ordered(): Promise<ToldRest[]>;
}
