import { execFileSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterEachFile } from '../../scripts/end-of-file.ts';
import { until } from '../log-client.ts';
import { temporaryFolder } from '../process.ts';

/** A small ext4 file system in a file, unmounted after the last test of the file. */
export interface Disk {
  /** Path of the mount point. */
  readonly path: string;
  /** Fills the disk to the last byte. */
  fill(): void;
  /** Frees the space that `fill` took. */
  free(): void;
  /**
   * Causes an error in the file system, which then turns read-only under the programs that write to it, until it is
   * mounted again (`errors=remount-ro`, as Debian mounts its disks).
   */
  fail(): void;
  /** Unmounts and mounts it again, when nothing on it is open. */
  repair(): Promise<void>;
  /** The same, but mounts it read-only. */
  mountReadOnly(): Promise<void>;
}

const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { encoding: 'utf8' }).trim();

const mounted = new Set<string>();
afterEachFile(() => {
  for (const path of mounted) run('umount', '--lazy', path);
});

/** Makes and mounts a file system of `bytes`. */
export function mountDisk(bytes: number): Disk {
  const folder = temporaryFolder();
  const image = join(folder, 'disk.img');
  const path = join(folder, 'disk');
  const filler = join(path, 'filler');
  mkdirSync(path);
  writeFileSync(image, '');
  truncateSync(image, bytes);
  // Without a journal an error leaves no trace on the disk, and without reserved blocks root meets the end of the disk too.
  run('mkfs.ext4', '-q', '-O', '^has_journal', '-m', '0', image);
  const mount = (options: string): void => {
    run('mount', '-o', `loop,${options}`, image, path);
    mounted.add(path);
  };
  const unmount = async (): Promise<void> => {
    run('umount', path);
    mounted.delete(path);
    // A mount namespace that another program made meanwhile still has it mounted. Until that ends, a file system that
    // turned read-only stays so, however it is mounted.
    await until(
      async () => run('losetup', '--associated', image),
      (devices) => devices === '',
      60,
    );
  };
  mount('errors=remount-ro');
  return {
    path,
    fill: () => fill(filler),
    free: () => rmSync(filler),
    fail: () => {
      const device = basename(run('findmnt', '--noheadings', '--output', 'SOURCE', '--mountpoint', path));
      writeFileSync(`/sys/fs/ext4/${device}/trigger_fs_error`, '1');
    },
    repair: async () => {
      await unmount();
      mount('errors=remount-ro');
    },
    mountReadOnly: async () => {
      await unmount();
      mount('ro');
    },
  };
}

function fill(path: string): void {
  const file = openSync(path, 'a');
  try {
    for (const size of [1 << 20, 4_096, 1]) writeUntilFull(file, Buffer.alloc(size));
  } finally {
    closeSync(file);
  }
}

function writeUntilFull(file: number, chunk: Uint8Array): void {
  try {
    while (writeSync(file, chunk) > 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
