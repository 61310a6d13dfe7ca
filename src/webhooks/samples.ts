/**
 * Example events of the built-in kinds, as a host would publish them: one external call to a desk phone, with both of
 * its legs. A calls in at 12:00:00 UTC, B is called, answers after four seconds and is put on hold once; the call ends
 * after a minute.
 */

type Sample = Readonly<Record<string, unknown>> & { readonly hook: string }

/** 2030-01-15T12:00:00Z */
const START_MS = 1_894_708_800_000

const call = {
  accountId: '91eb05e5c68d7ca05e7618b6821d2d16',
  callGroupId: 'a-4f0c2b7e9d1a45c8',
  from: '+14155550142@sip.example.com',
  callerIdName: 'Ada Moreno',
  callerIdNumber: '+14155550142',
  calleeIdName: 'Front Desk',
  calleeIdNumber: '1001',
  resellerId: '026f4f0a6d99f9a19b6aa4aa75501d7d',
  callForwarded: false,
  emergencyResourceUsed: false,
  isInternalLeg: false,
  customApplicationVars: {},
}

/** The caller's leg. */
const a = {
  ...call,
  callId: call.callGroupId,
  otherLegCallId: 'b-8e61d3f05ab24c97',
  direction: 'inbound',
  to: '+14155550100@sip.example.com',
  request: '+14155550100@sip.example.com',
  inception: '+14155550142@sip.example.com',
  authorizingId: 'd88c4e753d18755ca71adbae784e5f10',
  authorizingType: 'resource',
  localResourceUsed: true,
  localResourceId: 'd88c4e753d18755ca71adbae784e5f10',
  endpoint: { kind: 'trunk', name: 'carrier' },
  customChannelVars: { classifier: 'did' },
}

/** The leg to the desk phone. */
const b = {
  ...call,
  callId: a.otherLegCallId,
  otherLegCallId: a.callId,
  direction: 'outbound',
  to: 'desk-1001@sip.example.com',
  request: 'desk-1001@sip.example.com',
  ownerId: 'd860229e722bf8f738737365b0b1e333',
  authorizingId: '7f2b66a620cf9523d349cc5de8f21f37',
  authorizingType: 'device',
  localResourceUsed: false,
  endpoint: { kind: 'extension', name: 'desk-1001' },
  customChannelVars: { extension: '1001' },
}

/** The caller's leg before the other one exists. */
const { otherLegCallId: _, ...alone } = a

/** What the events of both legs have from the answer on. */
const answered = {
  answeredBy: { number: call.calleeIdNumber, name: call.calleeIdName, callId: b.callId },
}

const at = (seconds: number) => START_MS + seconds * 1000

/** In the order of the call; times in Unix milliseconds. */
export const SAMPLES: readonly Sample[] = [
  { hook: 'channel_create', ...alone, timestampMs: at(0) },
  { hook: 'channel_create', ...b, timestampMs: at(1) },
  { hook: 'channel_answer', ...b, ...answered, timestampMs: at(5) },
  { hook: 'channel_answer', ...a, ...answered, timestampMs: at(5) },
  {
    hook: 'channel_bridge',
    ...a,
    ...answered,
    timestampMs: at(5),
    originalNumber: '+14155550100',
    otherLegDestinationNumber: '1001',
  },
  { hook: 'channel_hold', ...a, ...answered, timestampMs: at(20) },
  { hook: 'channel_unhold', ...a, ...answered, timestampMs: at(32) },
  {
    hook: 'channel_destroy',
    ...b,
    ...answered,
    timestampMs: at(60),
    hangupCause: 'NORMAL_CLEARING',
    hangupCode: 'sip:200',
    durationSeconds: 59,
    ringingSeconds: 4,
    billingSeconds: 55,
    durationMs: 59_000,
    ringingMs: 4_000,
    billingMs: 55_000,
  },
  {
    hook: 'channel_destroy',
    ...a,
    ...answered,
    timestampMs: at(60),
    hangupCause: 'NORMAL_CLEARING',
    hangupCode: 'sip:200',
    durationSeconds: 60,
    ringingSeconds: 5,
    billingSeconds: 55,
    durationMs: 60_000,
    ringingMs: 5_000,
    billingMs: 55_000,
  },
]
