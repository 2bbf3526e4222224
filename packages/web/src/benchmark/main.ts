import type { JsonObject } from '@tallystick/core';
import { announce, byId, element, fromTemplate, setContents } from '../dom.ts';
import { benchmarkProse as prose } from '../prose.ts';
import { trustAt } from '../trust.ts';
import { agreeing } from './agree.ts';
import { worstCases } from './cases.ts';
import { type Material, NODES, type NodeDocument, type NodeName, type Summary } from './documents.ts';
import { kindsFigure } from './kinds.ts';
import { losslessFigure } from './lossless.ts';
import { materialFigures } from './material.ts';
import { originOf } from './origin.ts';
import { pairedFigure } from './paired.ts';
import { peersOf } from './peers.ts';
import { type Reading, readNode } from './read.ts';
import { showSignatures } from './signature.ts';
import { summaryFiguresOf } from './summary-figures.ts';
import { survivalFigure } from './survival-figure.ts';

const main = byId('main');

/** Reads the documents, verifies them, and draws those whose signatures hold. */
async function show(): Promise<void> {
  main.setAttribute('aria-busy', 'true');
  try {
    const now = Date.now();
    const trust = await trustAt(now);
    const requests = NODES.map(async (name) => ({ name, reading: await readNode(name, trust, now) }));
    const summary = await readNode('benchmark', trust, now);
    const nodes = (await Promise.all(requests)).map(({ name, reading }) => ({
      name,
      reading: agreeing(summary, reading, name),
    }));
    const readings = [summary, ...nodes.map(({ reading }) => reading)];
    reveal('[data-needs-any]', readings.some(isRead));
    reveal('[data-needs-summary]', isRead(summary));
    reveal('[data-needs-material]', false);
    drawSummary(summary);
    for (const { name, reading } of nodes) drawNode(name, reading);
    showSignatures(readings, trust, show);
  } catch (error) {
    // Nothing half drawn may remain as if it were verified.
    for (const part of main.querySelectorAll('[data-part]')) setContents(part);
    reveal('[data-needs-any], [data-needs-summary], [data-needs-material]', false);
    setContents(byId('signature'), element('p', 'refusal', prose.text.broken));
    announce(prose.text.broken, 'fail');
    throw error;
  } finally {
    main.setAttribute('aria-busy', 'false');
  }
}

const isRead = ({ document }: Reading): boolean => document !== null;

function reveal(selector: string, shown: boolean): void {
  for (const part of main.querySelectorAll<HTMLElement>(selector)) part.hidden = !shown;
}

function drawSummary({ document }: Reading): void {
  if (document === null) return;
  const summary = document as JsonObject & Summary;
  setContents(byId('origin'), originOf(summary));
  setContents(byId('glance'), summaryFiguresOf(summary));
  setContents(byId('paired'), pairedFigure(summary));
  setContents(byId('lossless'), losslessFigure(summary.nodes.modality.lossless ?? []));
  setContents(byId('peers'), peersOf(summary));
  for (const name of NODES) {
    const node = summary.nodes[name];
    setContents(byId(`${name}-about`), node.about);
    setContents(byId(`${name}-kept`), survivalFigure(prose.nodes[name].title, node));
  }
}

function drawNode(name: NodeName, { document, detail }: Reading): void {
  const kinds = byId(`${name}-kinds`);
  const cases = byId(`${name}-cases`);
  if (document === null) {
    setContents(kinds, fromTemplate('t-absent', { detail }));
    setContents(cases, fromTemplate('t-absent', { detail }));
    return;
  }
  const node = document as JsonObject & NodeDocument;
  setContents(byId(`${name}-about`), node.about);
  setContents(kinds, kindsFigure(name, node));
  setContents(cases, worstCases(node));
  if (node.material !== undefined) drawMaterial(node.material);
}

function drawMaterial(material: Material): void {
  setContents(byId('material-about'), material.about);
  setContents(byId('material-rows'), materialFigures(material));
  reveal('[data-needs-material]', true);
}

void show();
