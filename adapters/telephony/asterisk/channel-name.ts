/** Parses channel names: `PJSIP/1001-0000002a`, `Local/2001@inner-00000001;2`. */

/** A parsed channel name. */
export interface ChannelName {
  /** `PJSIP`, `Local`, … */
  readonly technology: string
  /** The endpoint, peer or trunk: `1001`; `extension@context` for a half of a Local channel; `i1`, a span of DAHDI. */
  readonly endpoint: string
  /** For a half of a Local channel: the name of the other half. */
  readonly otherHalf?: string
  /** For a dialled ISDN channel: the dialled number. */
  readonly number?: string
}

/**
 * Technologies of channels that have no phone: they belong to the switch itself, or stream the audio of a call to a
 * program (`AudioSocket`, `UnicastRTP` and `MulticastRTP` for external media, `WebSocket`).
 */
const INTERNAL: ReadonlySet<string> = new Set([
  'Announcer',
  'AsyncGoto',
  'AudioSocket',
  'Bridge',
  'CBAnn',
  'CBRec',
  'Local',
  'Message',
  'MulticastRTP',
  'OutgoingSpoolFailed',
  'Recorder',
  'Snoop',
  'Surrogate',
  'UnicastRTP',
  'WebSocket',
])

/** Parses a name; missing parts are ''. */
export function parseChannelName(name: string): ChannelName {
  const slash = name.indexOf('/')
  const technology = slash < 0 ? name : name.slice(0, slash)
  const rest = slash < 0 ? '' : name.slice(slash + 1)
  // The name of an ISDN channel has the number after its span: `DAHDI/i1/5550199-3`.
  const span = technology === 'DAHDI' ? rest.indexOf('/') : -1
  const endEndpoint = span < 0 ? rest.lastIndexOf('-') : span
  const endpoint = endEndpoint < 0 ? rest : rest.slice(0, endEndpoint)
  const number = span < 0 ? '' : rest.slice(span + 1, rest.lastIndexOf('-'))
  if (number !== '') return { technology, endpoint, number }
  if (technology !== 'Local' || !/;[12]$/.test(name)) return { technology, endpoint }
  const half = name.endsWith('1') ? '2' : '1'
  return { technology, endpoint, otherHalf: `${name.slice(0, -1)}${half}` }
}

/** Parses the name of a phone without a channel: `PJSIP/1001`, `Local/1003@agents/n`, whose `n` is an option. */
export function parseDevice(device: string): Pick<ChannelName, 'technology' | 'endpoint'> {
  const slash = device.indexOf('/')
  const [technology, rest] = [device.slice(0, Math.max(0, slash)), device.slice(slash + 1)]
  const optionsAt = technology === 'Local' ? rest.lastIndexOf('/') : -1
  return { technology, endpoint: optionsAt < 0 ? rest : rest.slice(0, optionsAt) }
}

/** Whether a channel has no phone. `DAHDI/pseudo` mixes the audio of a conference. */
export function isInternalChannel({ technology, endpoint }: ChannelName): boolean {
  return INTERNAL.has(technology) || (technology === 'DAHDI' && endpoint.startsWith('pseudo'))
}
