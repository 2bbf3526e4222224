import { execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEachFile } from '../../scripts/end-of-file.ts';
import { packPackages } from '../packages/install.ts';
import { type Ended, type Env, temporaryFolder } from '../process.ts';
import { imageSettings } from './dockerfile.ts';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));

const READY = /^tallystick is ready on (\S+)$/m;

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: PROJECT, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });

const mounted: string[] = [];
const running = new Set<Promise<Ended>>();
const stops = new Set<() => void>();
afterEachFile(async () => {
  for (const stop of stops) stop();
  await Promise.all(running);
  for (const path of mounted.splice(0).toReversed()) run('umount', '--lazy', path);
});

/** Builds a root file system, and gives it its name when it is whole; where another file does so already, waits for that. */
const BUILD = 'test -e "$2" || { deploy/image/rootfs.sh "$0" "$1" && mv "$1" "$2"; }';

/** Builds the packages and, from them, what the image holds, once for all files of the suite. Returns the folder. */
export function buildRootfs(): string {
  const { TALLY_SYSTEM_TESTS: shared = temporaryFolder() } = process.env;
  const rootfs = join(shared, 'rootfs');
  if (existsSync(rootfs)) return rootfs;
  const own = mkdtempSync(join(shared, 'building-'));
  const packed = join(own, 'packed');
  packPackages(packed);
  run('flock', join(shared, 'lock'), 'sh', '-c', BUILD, packed, join(own, 'rootfs'), rootfs);
  return rootfs;
}

/** A process in a container. */
export interface Contained {
  /** Address of the service, once it says that it is ready; rejects with what it said when it ends before that. */
  ready(): Promise<string>;
  readonly ended: Promise<Ended>;
  /** Its process id out here; inside it is 1. */
  readonly pid: () => number;
  kill(signal: NodeJS.Signals): Promise<Ended>;
}

/**
 * A container as `docker run --read-only` makes it, as far as that goes without Docker: its own mounts and processes, the
 * image's user, and a root file system that takes no writes but in the data directory. The network is the machine's.
 */
export class Container {
  /** The data directory as seen from out here. */
  readonly data = join(temporaryFolder(), 'data');
  readonly #root = join(temporaryFolder(), 'root');
  readonly #image = imageSettings();
  readonly #env: Env;

  constructor(rootfs: string, env: Env = {}) {
    this.#env = { ...this.#image.env, ...env };
    mkdirSync(this.data, { mode: 0o700 });
    const [user = 0, group = 0] = this.#image.user.split(':').map(Number);
    chownSync(this.data, user, group);
    mkdirSync(this.#root);
    this.#mount('', '--bind', rootfs);
    run('mount', '--options', 'remount,bind,ro', this.#root);
    this.#mount('proc', '--types', 'proc', 'proc');
    this.#mount('dev', '--types', 'tmpfs', 'tmpfs');
    run('mknod', '--mode=666', join(this.#root, 'dev/null'), 'c', '1', '3');
    run('mknod', '--mode=666', join(this.#root, 'dev/urandom'), 'c', '1', '9');
    run('mount', '--options', 'remount,ro', join(this.#root, 'dev'));
    this.#mount(this.#image.env.TALLY_DATA_DIR ?? '', '--bind', this.data);
  }

  #mount(at: string, ...args: string[]): void {
    const path = join(this.#root, at);
    run('mount', ...args, path);
    mounted.push(path);
  }

  /** Runs the image's entry point with its own command or another one, or its health check. */
  start(args: readonly string[] | 'healthcheck' = this.#image.command): Contained {
    const command = args === 'healthcheck' ? this.#image.healthcheck : [...this.#image.entrypoint, ...args];
    const inside = ['chroot', `--userspec=${this.#image.user}`, '--groups=', this.#root, ...command];
    const child = spawn('unshare', ['--pid', '--fork', ...inside], {
      cwd: tmpdir(),
      env: { PATH: process.env.PATH, ...this.#env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    const ready = Promise.withResolvers<string>();
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      const url = READY.exec(stdout)?.[1];
      if (url !== undefined) ready.resolve(url.replace('localhost', '127.0.0.1'));
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const pid = (): number => {
      const [found] = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8').split(' ');
      if (!found) throw new Error('The first process of the container has ended.');
      return Number(found);
    };
    const stop = (): void => void process.kill(pid(), 'SIGKILL');
    const ended = new Promise<Ended>((resolve) => {
      child.on('close', (code, signal) => {
        stops.delete(stop);
        running.delete(ended);
        resolve({ code, signal, stdout, stderr });
      });
    });
    stops.add(stop);
    running.add(ended);
    return {
      ready: async () => {
        const early = ended.then(() => Promise.reject(new Error(`The service ended: ${stdout}${stderr}`)));
        return Promise.race([ready.promise, early]);
      },
      ended,
      pid,
      kill: (signal) => {
        process.kill(pid(), signal);
        return ended;
      },
    };
  }
}
