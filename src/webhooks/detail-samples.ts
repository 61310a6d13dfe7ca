/**
 * Example events of the built-in kinds that tell more of a call than its legs, as a host would publish them. The caller's
 * leg is that of `samples.ts`; each hook is an example by itself, not a step of one call.
 */
import { SAMPLES } from './samples.js'

type Sample = (typeof SAMPLES)[number]

/** The first sample: the caller's leg, before another leg exists. */
const { hook: _, ...caller } = SAMPLES[0] as Sample
/** The second sample: the leg to the desk phone. */
const { hook: __, ...desk } = SAMPLES[1] as Sample
const startMs = caller.timestampMs as number
const other = { otherLegCallId: desk.callId }
const parties = {
  fromUser: '+14155550142',
  fromRealm: 'sip.example.com',
  toUser: '+14155550100',
  toRealm: 'sip.example.com',
}
const blind = { transferType: 'blind', transferTo: '1002' }
const attended = { transferType: 'attended', transferTo: '1003', targetCallId: 'c-2d7a90b1c35e4f68' }
const queue = { queueId: 'support' }
const agent = { ...queue, ...other, agentId: 'agent-7', agentCallId: desk.callId, agentNumber: '1001' }

/** An agent without a call. */
const member = {
  accountId: caller.accountId,
  callId: 'agent-7',
  timestampMs: startMs,
  agentId: 'agent-7',
  agentNumber: '1001',
}

const recordingPath = '/var/lib/freeswitch/recordings/2030-01-15.12-00-00.wav'
const conference = { name: 'weekly', member: '7' }

const device = {
  accountId: caller.accountId,
  callId: 'r-7c1e5a90b3d24f68',
  timestampMs: startMs,
  from: '1001@sip.example.com',
  username: '1001',
  realm: 'sip.example.com',
  contact: '<sip:1001@203.0.113.9:5060>',
  userAgent: 'Yealink SIP-T46U',
}

const at = (seconds: number) => ({ timestampMs: startMs + seconds * 1000 })

/** In the order of the catalogue; times in Unix milliseconds. */
export const DETAIL_SAMPLES: readonly Sample[] = [
  { hook: 'channel_transferee', ...caller, ...other, ...at(40), ...blind },
  { hook: 'channel_transferee', ...caller, ...other, ...at(50), ...attended },
  { hook: 'channel_transferor', ...desk, ...at(40), ...blind },
  { hook: 'channel_transferor', ...desk, ...at(50), ...attended },
  { hook: 'parking', ...caller, ...other, ...at(15), eventName: 'PARK_PARKED', parkingSlot: '701' },
  { hook: 'parking', ...caller, ...other, ...at(45), eventName: 'PARK_RETRIEVED', parkingSlot: '701' },
  {
    hook: 'voicemail_new',
    ...caller,
    ...at(35),
    ...parties,
    voicemailBox: '1001',
    voicemailId: '202301-6f1c9e0b',
    voicemailLengthMs: 12_000,
  },
  { hook: 'missed_call', ...caller, ...other, ...at(30), ...parties, callBridged: false, messageLeft: false },
  { hook: 'queue_join', ...caller, ...at(2), ...queue, queuePosition: 1 },
  {
    hook: 'queue_leave',
    ...caller,
    ...at(22),
    ...queue,
    queuePosition: 1,
    queueLeaveReason: 'abandoned',
    waitingSeconds: 20,
  },
  { hook: 'queue_agent_offer', ...caller, ...at(3), ...agent },
  { hook: 'queue_agent_answer', ...caller, ...at(10), ...agent, waitingSeconds: 8 },
  { hook: 'queue_agent_no_answer', ...caller, ...at(18), ...agent, ringingMs: 15_000 },
  {
    hook: 'queue_agent_complete',
    ...caller,
    ...at(60),
    ...agent,
    waitingSeconds: 8,
    talkingSeconds: 50,
    reason: 'caller',
  },
  { hook: 'queue_agent_login', ...member, ...queue },
  { hook: 'queue_agent_logout', ...member, ...at(28_800) },
  { hook: 'queue_agent_pause', ...member, ...queue, ...at(7_200), reason: 'lunch' },
  { hook: 'queue_agent_resume', ...member, ...queue, ...at(9_000) },
  { hook: 'channel_dtmf', ...caller, ...at(8), dtmfDigit: '1', dtmfDurationMs: 120 },
  { hook: 'recording_started', ...caller, ...at(9), path: recordingPath },
  {
    hook: 'recording_ready',
    ...caller,
    ...at(69),
    path: recordingPath,
    durationMs: 60_000,
    reason: 'hangup',
  },
  { hook: 'conference_join', ...caller, ...at(5), ...conference, members: 3 },
  { hook: 'conference_leave', ...caller, ...at(65), ...conference, members: 2 },
  { hook: 'device_registered', ...device, expires: 3_600 },
  { hook: 'device_unregistered', ...device, ...at(7_200) },
  {
    hook: 'sms',
    accountId: caller.accountId,
    callId: 'm-3e9d5b7a1c2f4068',
    timestampMs: startMs,
    direction: 'inbound',
    from: '+14155550142',
    to: '+14155550100',
    body: 'Is the shop open today?',
    status: 'received',
  },
  {
    hook: 'object',
    accountId: caller.accountId,
    callId: 'b7e2d94c0a1f4c35869d2b4f7e6a8c01',
    timestampMs: startMs,
    documentId: 'b7e2d94c0a1f4c35869d2b4f7e6a8c01',
    documentType: 'user',
    documentAction: 'doc_created',
  },
]
