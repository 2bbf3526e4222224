/** The router's own code, `packages/inference/src/router/redecide.ts`: scripts/bundle.ts puts it in the place of this name. */
declare module 'router-replay' {
  /** Decides again from what is recorded. @throws TallyError where the decision was made by other weights, or was changed */
  export function redecide<Recorded extends { readonly outcome: object }>(
    recorded: Recorded,
  ): {
    readonly outcome: Recorded['outcome'];
    readonly same: boolean;
    readonly differences: readonly string[];
  };
}
