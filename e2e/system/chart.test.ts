import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../process.ts';
import { goProgram } from './go-modules.ts';
import { KUBERNETES, writeKubernetesSchemas } from './kubernetes-schemas.ts';

const CHART = fileURLToPath(new URL('../../deploy/helm/tallystick', import.meta.url));

const ALWAYS = ['Deployment', 'PodDisruptionBudget', 'Service'];
const OPTIONAL = ['HorizontalPodAutoscaler', 'Ingress', 'ServiceMonitor'];

let helm = '';
let kubeconform = '';
let schemas = '';
beforeAll(() => {
  helm = goProgram('helm.sh/helm/v3/cmd/helm', 'v3.22.0');
  kubeconform = goProgram('github.com/yannh/kubeconform/cmd/kubeconform', 'v0.8.0');
  schemas = writeKubernetesSchemas(temporaryFolder(), [...ALWAYS, ...OPTIONAL]);
}, 900_000);

const run = (program: string, args: readonly string[], input = '') =>
  spawnSync(program, args, { encoding: 'utf8', input });

/** Helm that was built from its module takes itself for one of a very old Kubernetes. */
const template = (...args: readonly string[]) =>
  run(helm, ['template', 'release', CHART, `--kube-version=${KUBERNETES}`, ...args]);

interface Summary {
  readonly resources: { readonly kind: string; readonly status: string; readonly msg: string }[];
  readonly summary: { readonly valid: number; readonly invalid: number; readonly errors: number };
}

/** What kubeconform says of manifests; it knows no other schemas than the ones here. */
function conform(manifests: string): Summary {
  const args = ['-strict', '-verbose', '-summary', '-output', 'json', '-schema-location', schemas, '-'];
  return JSON.parse(run(kubeconform, args, manifests).stdout) as Summary;
}

describe.each([
  ['required', ALWAYS],
  ['everything', [...ALWAYS, ...OPTIONAL].toSorted()],
])('the chart with the values that are %s', (name, kinds) => {
  const values = `--values=${CHART}/ci/${name}-values.yaml`;

  it('passes helm lint', () => {
    const { status, stdout, stderr } = run(helm, ['lint', '--strict', values, CHART]);
    expect(status, stdout + stderr).toBe(0);
  });

  it('makes objects that Kubernetes takes', () => {
    const { status, stdout, stderr } = template(values);
    expect(status, stderr).toBe(0);
    const { resources } = conform(stdout);
    expect(resources.filter((resource) => resource.status !== 'statusValid')).toEqual([]);
    expect(resources.map(({ kind }) => kind).toSorted()).toEqual(kinds);
  });

  it('runs under the restricted pod security standard, and lets the service drain', () => {
    const { stdout } = template(values, '--show-only=templates/deployment.yaml', '--set=drainSeconds=60');
    for (const line of [
      'runAsNonRoot: true',
      'type: RuntimeDefault',
      'allowPrivilegeEscalation: false',
      'readOnlyRootFilesystem: true',
      'drop: [ALL]',
      'automountServiceAccountToken: false',
      'terminationGracePeriodSeconds: 100',
    ]) {
      expect(stdout).toContain(line);
    }
  });
});

it('a large number among the settings stays what it is', () => {
  const { stdout } = template(`--values=${CHART}/ci/everything-values.yaml`);
  expect(stdout).toContain('value: "10485760"');
});

it.each([
  ['no settings', [], 'TALLY_HANDLE'],
  ['a secret among the settings', ['--set=config.TALLY_DATABASE_URL=postgres://x'], 'TALLY_DATABASE_URL'],
  ['a value that the chart does not have', ['--set=replicas=3'], 'replicas'],
  ['an Ingress of no host', ['--set=ingress.enabled=true'], 'hosts'],
])('the chart refuses %s', (what, args, named) => {
  const values = what === 'no settings' ? [] : [`--values=${CHART}/ci/required-values.yaml`];
  const { status, stderr } = template(...values, ...args);
  expect(status).not.toBe(0);
  expect(stderr).toContain(named);
});

it('kubeconform refuses what Kubernetes would', () => {
  const { stdout } = template(`--values=${CHART}/ci/everything-values.yaml`);
  const broken = [
    ['minReplicas: 2', 'minReplicas: two', 'HorizontalPodAutoscaler'],
    ['readOnlyRootFilesystem', 'readonlyRootFilesystem', 'Deployment'],
    ['path: /metrics', 'paths: /metrics', 'ServiceMonitor'],
  ] as const;
  for (const [right, wrong, kind] of broken) {
    const { resources } = conform(stdout.replace(right, wrong));
    expect(resources.filter(({ status }) => status === 'statusInvalid')).toMatchObject([{ kind }]);
  }
});
