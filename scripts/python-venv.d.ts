/** The path of a Python with the package and what its tests need; undefined where there is no Python of 3.10 or later. */
export function setUpPython(): string | undefined;
/** Installs packages into an environment that has pip. `what`: as for `pip install`. Ends the process where that fails. */
export function installPython(interpreter: string, ...what: readonly string[]): void;
