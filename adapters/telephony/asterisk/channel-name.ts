/** Parses channel names: `PJSIP/1001-0000002a`, `Local/2001@inner-00000001;2`. */

/** A parsed channel name. */
export interface ChannelName {
  /** `PJSIP`, `Local`, … */
  readonly technology: string
  /** The endpoint, peer or trunk: `1001`; `extension@context` for a half of a Local channel. */
  readonly endpoint: string
  /** For a half of a Local channel: the name of the other half. */
  readonly otherHalf?: string
}

/** Technologies of channels that belong to the switch itself and have no phone. */
const INTERNAL: ReadonlySet<string> = new Set([
  'Announcer',
  'Bridge',
  'CBAnn',
  'CBRec',
  'Local',
  'Message',
  'Recorder',
  'Snoop',
  'Surrogate',
])

/** Parses a name; missing parts are ''. */
export function parseChannelName(name: string): ChannelName {
  const slash = name.indexOf('/')
  const technology = slash < 0 ? name : name.slice(0, slash)
  const rest = slash < 0 ? '' : name.slice(slash + 1)
  const dash = rest.lastIndexOf('-')
  const endpoint = dash < 0 ? rest : rest.slice(0, dash)
  if (technology !== 'Local' || !/;[12]$/.test(name)) return { technology, endpoint }
  const half = name.endsWith('1') ? '2' : '1'
  return { technology, endpoint, otherHalf: `${name.slice(0, -1)}${half}` }
}

/** Whether channels of a technology have no phone. */
export function isInternalTechnology(technology: string): boolean {
  return INTERNAL.has(technology)
}
