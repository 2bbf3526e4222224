import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PYTHON = fileURLToPath(new URL('../python', import.meta.url));
const venv = join(PYTHON, '.venv', 'bin', 'python');

/** The Python of the project's environment if there is one, else that of the machine. */
export const python: string = existsSync(venv) ? venv : 'python3';

/** Environment in which the Python SDK can be imported. */
export const pythonEnv: NodeJS.ProcessEnv = { ...process.env, PYTHONPATH: join(PYTHON, 'src') };

/** Why Python can't import a module here, or null. */
export const missingInPython = (module: string): string | null =>
  spawnSync(python, ['-c', `import ${module}`], { env: pythonEnv }).status === 0
    ? null
    : `no Python with ${module} and its dependencies`;

/** Why the Python SDK can't run here, or null. */
export const pythonMissing: string | null = missingInPython('tallystick');
