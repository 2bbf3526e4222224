import { isDarkBy, storedTheme } from '../theme/choice.ts';

/** The part of Scalar's own global that this page uses; its script stands before this one. */
interface Scalar {
  createApiReference(element: string, configuration: Readonly<Record<string, unknown>>): unknown;
}
declare const Scalar: Scalar;

/** Languages and libraries for which no code is shown, since few would look for them here. */
const HIDDEN = {
  c: true,
  clojure: true,
  dart: true,
  fsharp: true,
  http: true,
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  julia: true,
  kotlin: true,
  node: true,
  objc: true,
  ocaml: true,
  powershell: true,
  python: ['aiohttp', 'python3'],
  r: true,
  shell: ['httpie', 'wget'],
  swift: true,
};

const preference = matchMedia('(prefers-color-scheme: dark)');

const isDark = (): boolean => isDarkBy(storedTheme(), preference.matches);

// Everything that would ask another service is off: type faces, telemetry, the proxy, the agent and the hosted client.
Scalar.createApiReference('#reference', {
  url: '/openapi.json',
  servers: [{ url: location.origin, description: 'This service' }],
  theme: 'none',
  withDefaultFonts: false,
  telemetry: false,
  proxyUrl: '',
  externalUrls: { dashboardUrl: '', registryUrl: '', proxyUrl: '', apiBaseUrl: '' },
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  // Whoever comes reads the introduction first; a page with nothing opened yet is there in four fifths of the time.
  defaultOpenFirstTag: false,
  showDeveloperTools: 'never',
  persistAuth: false,
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: HIDDEN,
  hideDarkModeToggle: true,
  forceDarkModeState: isDark() ? 'dark' : 'light',
});

/** Scalar reads its look once; from then on these classes are it. */
function follow(): void {
  document.body.classList.toggle('dark-mode', isDark());
  document.body.classList.toggle('light-mode', !isDark());
}

preference.addEventListener('change', follow);
new MutationObserver(follow).observe(document.documentElement, { attributeFilter: ['data-theme'] });
