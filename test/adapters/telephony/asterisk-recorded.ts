import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'

/** The expected events of one phone in a recorded call, from the message log of the phone. */
export interface RecordedLeg {
  /** The SIP Call-ID of the phone's dialog. */
  callId: string
  phone: string
  role: string
  account: string
  answered: boolean
  code: number | null
  outcome: string
  endedBy: 'this phone' | 'the other leg' | 'the switch'
  dialled?: string
  callerName?: string
  callerNumber?: string
  inviteMs: number
  ringingMs?: number
  answerMs?: number
  endMs?: number
  talkMs?: number
  holds?: { holdMs: number; resumeMs: number | null }[]
  matchBy: 'SIPCALLID' | 'phone'
}

/** The expected events of one recorded call. */
export interface RecordedCall {
  call: string
  scenario: string
  legs: RecordedLeg[]
  bridges: [string, string][]
}

const recording = (name: string) =>
  readFileSync(new URL(`../../../examples/switches/recordings/${name}`, import.meta.url))

/** All bytes of a recorded AMI connection, from the banner on. */
export const amiBytes: Buffer = gunzipSync(recording('asterisk-ami.txt.gz'))

/** The text frames of the ARI WebSocket, of the same calls. */
export const ariFrames: readonly string[] = gunzipSync(recording('asterisk-ari.ndjson.gz'))
  .toString()
  .trimEnd()
  .split('\n')

/** No phone was at 2009, so no log has the Call-ID; this one is from Asterisk's events. */
const UNLOGGED_CALL_ID = '478e3cc5-0d5f-4d3e-ab7a-e4e4a52b6409'

/** The 48 recorded calls. */
export const recordedCalls: readonly RecordedCall[] = JSON.parse(
  recording('asterisk-expected.json').toString(),
  (_, value) => (value?.phone === '2009' ? { ...value, callId: UNLOGGED_CALL_ID } : value),
).calls
