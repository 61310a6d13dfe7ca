/** What the name of a channel tells: `PJSIP/1001-0000002a`, `Local/2001@inner-00000001;2`. */

/** A name taken apart. */
export interface ChannelName {
  /** `PJSIP`, `Local`, … */
  readonly technology: string
  /** `1001`: the endpoint, peer or trunk; of a Local half its `extension@context`. */
  readonly endpoint: string
  /** The other half of a Local pair. */
  readonly otherHalf?: string
}

/** Technologies whose channels are means of the switch itself: no phone is at their end. */
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

/** Takes a name apart; what it does not have is ''. */
export function channelName(name: string): ChannelName {
  const slash = name.indexOf('/')
  const technology = slash < 0 ? name : name.slice(0, slash)
  const rest = slash < 0 ? '' : name.slice(slash + 1)
  const dash = rest.lastIndexOf('-')
  const endpoint = dash < 0 ? rest : rest.slice(0, dash)
  if (technology !== 'Local' || !/;[12]$/.test(name)) return { technology, endpoint }
  const half = name.endsWith('1') ? '2' : '1'
  return { technology, endpoint, otherHalf: `${name.slice(0, -1)}${half}` }
}

/** Whether channels of a technology are never phones. */
export function isInternal(technology: string): boolean {
  return INTERNAL.has(technology)
}
