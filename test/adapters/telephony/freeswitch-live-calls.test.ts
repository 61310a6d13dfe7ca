import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { eventFromJson } from '../../../adapters/telephony/freeswitch/event.js'
import { DEFAULT_OPTIONAL_HOOKS } from '../../../adapters/telephony/source/optional-hooks.js'
import { hooks, mapAll } from './freeswitch-mapped.js'

/** Events that a live FreeSWITCH 1.11 sent while SIP phones placed calls, one JSON object a line. */
function live(name: string) {
  const file = new URL(`freeswitch-recordings/${name}.jsonl.gz`, import.meta.url)
  const lines = gunzipSync(readFileSync(file)).toString().trimEnd().split('\n')
  const events = lines.map((line) => eventFromJson(JSON.parse(line)))
  return mapAll(
    events.filter((event) => event !== undefined),
    { optionalHooks: DEFAULT_OPTIONAL_HOOKS },
  )
}

describe('on a live FreeSWITCH', () => {
  it('a caller who gives up while three phones ring ends each of them', () => {
    const { published, problems } = live('fork-caller-cancels')
    expect(problems).toEqual([])
    const ends = published.filter(({ hook }) => hook === 'channel_destroy')
    expect(
      ends.map(({ to, hangupCause, customChannelVars }) => [to, hangupCause, customChannelVars]),
    ).toEqual([
      ['1003@127.0.0.1', 'ORIGINATOR_CANCEL', { 'Account-ID': 'alpha', ended_by: 'other_leg' }],
      ['602@127.0.0.1', 'ORIGINATOR_CANCEL', { 'Account-ID': 'alpha', ended_by: 'this_leg' }],
      ['1002@127.0.0.1', 'ORIGINATOR_CANCEL', { 'Account-ID': 'alpha', ended_by: 'other_leg' }],
    ])
  })

  it('no address has a port, at the create of a dialled leg either', () => {
    const { published } = live('fork-caller-cancels')
    expect(published.flatMap(({ from, to, request }) => [from, to, request]).join(' ')).not.toContain(':')
    const creates = published.filter(({ hook }) => hook === 'channel_create')
    expect(creates.map(({ to }) => to)).toEqual(['1002@127.0.0.1', '1003@127.0.0.1', '602@127.0.0.1'])
  })

  it('a conference reports who joins and leaves, and how many members it has then', () => {
    const { published, problems } = live('conference')
    expect(problems).toEqual([])
    const [first, second] = new Set(published.map(({ callId }) => callId))
    const room = { accountId: 'alpha', name: 'room1' }
    expect(published.filter(({ hook }) => hook.startsWith('conference_'))).toMatchObject([
      { hook: 'conference_join', callId: first, ...room, member: '1', members: 1, callerIdNumber: '1001' },
      { hook: 'conference_join', callId: second, ...room, member: '2', members: 2, callerIdNumber: '1003' },
      { hook: 'conference_leave', callId: second, ...room, member: '2', members: 1 },
      { hook: 'conference_leave', callId: first, ...room, member: '1', members: 0 },
    ])
    expect(hooks(published.filter(({ callId }) => callId === second))).toEqual([
      'create',
      'answer',
      'conference_join',
      'conference_leave',
      'destroy',
    ])
  })

  it('a recording reports its begin, and its file with its length before the end of the call', () => {
    const { published, problems } = live('record-session')
    // The recorded lines lack the dialled leg and the voicemail of a second call, whose message is no recording.
    expect(problems).toEqual([])
    const path = '/var/recordings/fsrec-f93fbcd9-7cba-4d73-81c8-a64a3fcdde22.wav'
    const recorded = published.filter(({ callId }) => callId === 'f93fbcd9-7cba-4d73-81c8-a64a3fcdde22')
    expect(hooks(recorded)).toEqual([
      'create',
      'recording_started',
      'answer',
      'bridge',
      'recording_ready',
      'destroy',
    ])
    expect(recorded[1]).toMatchObject({ path, accountId: 'alpha' })
    expect(recorded[4]).toMatchObject({ path, durationMs: 1_520, reason: 'hangup' })
    const second = published.filter(({ callId }) => callId.startsWith('4989fd73'))
    expect(hooks(second)).toEqual(['create', 'answer', 'destroy'])
  })
})
