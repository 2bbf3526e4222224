import { formatTimestamp } from '@tallystick/core';
import type { Evidence } from './evidence.ts';
import { AREAS, type Area, FINDINGS, type FindingCode, SEVERITIES, type Severity } from './findings.ts';
import type { Inspection } from './inspection.ts';

/** `not_checked`: something else prevented the check, or it does not apply; such an area does not count. */
type AreaState = 'passed' | 'found' | 'not_checked';

/** The result of a readiness check. */
export interface Report {
  readonly type: 'svc-readiness-v1';
  readonly origin: string;
  readonly checked_at: string;
  /** `ready`: 80 or more and nothing critical; `gaps`: nothing critical; else `not_ready`. */
  readonly verdict: 'ready' | 'gaps' | 'not_ready';
  /** 0 to 100, over the areas that were checked. */
  readonly score: number;
  /** Total weight of the areas that were checked, of 100. */
  readonly coverage: number;
  /** Whether the time sufficed for everything, and no rate limit prevented a check. */
  readonly complete: boolean;
  readonly areas: readonly {
    readonly area: Area;
    readonly weight: number;
    readonly state: AreaState;
    /** 0 to 100; null where it was not checked. */
    readonly score: number | null;
    readonly notes: readonly string[];
  }[];
  readonly findings: readonly {
    readonly code: FindingCode;
    readonly area: Area;
    readonly severity: Severity;
    readonly title: string;
    readonly detail: string;
    readonly fix: string;
    readonly evidence: readonly Evidence[];
  }[];
  readonly trust_note: string;
}

const READY = 80;
const TRUST_NOTE =
  'Receipts were checked with the trust bundle that this origin publishes about itself. That shows that its receipts and keys agree, not that the origin deserves trust: get its root fingerprint from another source and pin it.';

/** @param checked the areas whose check was completed */
export function reportOf(
  { origin, now, findings, notes }: Inspection,
  { checked, complete }: { readonly checked: ReadonlySet<Area>; readonly complete: boolean },
): Report {
  const ofArea = (area: Area) => findings.filter(({ code }) => FINDINGS[code].area === area);
  const areas = (Object.keys(AREAS) as Area[]).map((area) => {
    const here = ofArea(area);
    const state: AreaState = here.length > 0 ? 'found' : checked.has(area) ? 'passed' : 'not_checked';
    const cost = here.reduce((sum, { code }) => sum + SEVERITIES[FINDINGS[code].severity], 0);
    return {
      area,
      weight: AREAS[area],
      state,
      score: state === 'not_checked' ? null : Math.round(100 * Math.max(0, 1 - cost)),
      notes: notes.filter((note) => note.area === area).map(({ text }) => text),
    };
  });
  const counted = areas.filter(({ score }) => score !== null);
  const coverage = counted.reduce((sum, { weight }) => sum + weight, 0);
  const points = counted.reduce((sum, { weight, score }) => sum + weight * (score ?? 0), 0);
  const score = coverage === 0 ? 0 : Math.round(points / coverage);
  const critical = findings.some(({ code }) => FINDINGS[code].severity === 'critical');
  return {
    type: 'svc-readiness-v1',
    origin,
    checked_at: formatTimestamp(now),
    verdict: critical ? 'not_ready' : score >= READY && complete ? 'ready' : 'gaps',
    score,
    coverage,
    complete,
    areas,
    findings: findings
      .map(({ code, detail, evidence }) => {
        const { area, severity, title, fix } = FINDINGS[code];
        return { code, area, severity, title, detail, fix, evidence };
      })
      .toSorted((a, b) => SEVERITIES[b.severity] - SEVERITIES[a.severity]),
    trust_note: TRUST_NOTE,
  };
}
