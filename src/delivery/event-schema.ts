import type { JsonSchema } from '../values/json-schema.js'

/** Printable characters: no control character, line separator or lone surrogate. */
const PRINTABLE = '^[^\\p{Cc}\\p{Cs}\\p{Zl}\\p{Zp}]*$'

const text = (description: string) => ({ type: 'string', description }) as const
const flag = (description: string) => ({ type: 'boolean', description }) as const
const vars = (description: string) => ({ type: 'object', description }) as const
const leg = (description: string) =>
  ({ type: 'string', description, minLength: 1, maxLength: 255, pattern: PRINTABLE }) as const
const count = (description: string) =>
  ({ type: 'integer', description, minimum: 0, maximum: 2_147_483_647 }) as const
const seconds = count
const milliseconds = count
const duration = (description: string) => ({ ...count(description), maximum: 2_147_483_647_000 }) as const

/**
 * JSON Schema of the event that a host publishes: the payload in camelCase, plus `idempotencyKey`. Fields and
 * their meaning are KAZOO's (`webhooks_channel_util:base_hook_event`).
 *
 * An unknown key is an error, so that the first call reveals a misspelt field. Fields of registered kinds are
 * in `data`. `checkEvent` checks the rest: whether `hook` is in the catalogue,
 * and size, depth and well-formedness of the whole event.
 */
export const eventSchema = {
  type: 'object',
  required: ['hook', 'accountId', 'callId'],
  additionalProperties: false,
  properties: {
    hook: { type: 'string', description: 'Kind of event.', minLength: 1, maxLength: 64 },
    accountId: {
      type: 'string',
      description: 'Id of the account of the call.',
      pattern: '^[A-Za-z0-9_-]{1,64}$',
    },
    callId: leg('Id of the call leg; of a device, an agent or a message (`sms`), its own.'),
    callGroupId: leg(
      'Id that all legs of a call have: usually the id of its first leg. A leg that joins an older call in a transfer has the id of that call from then on.',
    ),
    otherLegCallId: leg('Id of the leg at the other end, if there is one.'),
    direction: {
      type: 'string',
      description: 'Direction of the leg, seen from the platform.',
      enum: ['inbound', 'outbound'],
    },
    timestampMs: {
      type: 'integer',
      description: 'When it happened, milliseconds since 1970. Default: now.',
      minimum: 0,
      maximum: 8_640_000_000_000_000,
    },
    from: text('Calling party, `user@realm`.'),
    to: text('Called party, `user@realm`.'),
    request: text('Requested destination, `user@realm`.'),
    inception: text('Where the call entered the platform, `user@realm`; absent for internal calls.'),
    callerIdName: text('Name of the caller.'),
    callerIdNumber: text('Number of the caller.'),
    calleeIdName: text(
      'Name of the callee: until the call is answered of the one who was called, then of the one who answered.',
    ),
    calleeIdNumber: text('Number of the callee. `to` and `request` keep what was dialled.'),
    answeredBy: {
      type: 'object',
      description: 'Who answered the call, from the answer on; absent if only the platform did.',
      additionalProperties: false,
      properties: {
        number: text('Number of the party.'),
        name: text('Name of the party.'),
        callId: leg('Id of its leg.'),
      },
    },
    endpoint: {
      type: 'object',
      description: 'Where the leg leads: the phone, or the line to the carrier.',
      additionalProperties: false,
      properties: {
        kind: {
          type: 'string',
          description:
            '`extension`: a phone of the platform. `trunk`, `gateway`: a line to a carrier. Absent if it is not known.',
          enum: ['extension', 'trunk', 'gateway'],
        },
        name: text('Its name on the platform.'),
      },
    },
    ownerId: text('Id of the user who owns the authorizing device.'),
    resellerId: text('Id of the account that resells to this one.'),
    authorizingId: text('Id of the device or trunk that authorized the leg.'),
    authorizingType: text('Kind of that device or trunk.'),
    callForwarded: flag('Whether the leg comes from call forwarding.'),
    emergencyResourceUsed: flag('Whether an emergency carrier was used.'),
    localResourceUsed: flag("Whether one of the account's own carriers was used."),
    localResourceId: text('Id of that carrier.'),
    isInternalLeg: flag('Whether the leg is a loopback of the platform.'),
    customChannelVars: vars('Variables of the channel.'),
    customApplicationVars: vars('Variables set by applications.'),
    originalNumber: text('Number that was originally dialled (`channel_bridge`).'),
    otherLegDestinationNumber: text('Number dialled on the other leg (`channel_bridge`).'),
    hangupCause: text('Why the leg ended (`channel_destroy`).'),
    hangupCode: text('The same as a protocol code (`channel_destroy`).'),
    durationSeconds: seconds('Duration of the leg in whole seconds, rounded down (`channel_destroy`).'),
    ringingSeconds: seconds('`duration_seconds` minus `billing_seconds` (`channel_destroy`).'),
    billingSeconds: seconds('Whole seconds from the answer to the end, rounded down (`channel_destroy`).'),
    durationMs: duration(
      'Duration of the leg, or length of the recording, in milliseconds (`channel_destroy`, `recording_ready`).',
    ),
    ringingMs: duration(
      'Milliseconds until the answer, or the duration if there was none (`channel_destroy`), or that the phone of the agent rang (`queue_agent_no_answer`).',
    ),
    billingMs: duration('Milliseconds from the answer to the end (`channel_destroy`).'),
    transferType: {
      type: 'string',
      description:
        '`attended`: the transferring party spoke to the new one before (`channel_transferee`, `channel_transferor`).',
      enum: ['blind', 'attended'],
    },
    transferTo: text('Number that the call is transferred to (`channel_transferee`, `channel_transferor`).'),
    targetCallId: leg('Id of the leg that the call is transferred to, if it exists (the same two kinds).'),
    eventName: {
      type: 'string',
      description: 'Whether the call is parked, retrieved, or ended in the slot (`parking`).',
      enum: ['PARK_PARKED', 'PARK_RETRIEVED', 'PARK_ABANDONED'],
    },
    parkingSlot: text('Slot in which the call is parked (`parking`).'),
    fromUser: text('User part of `from` (`voicemail_new`, `missed_call`).'),
    fromRealm: text('Realm of `from` (`voicemail_new`, `missed_call`, `sms`).'),
    toUser: text('User part of `to` (`voicemail_new`, `missed_call`).'),
    toRealm: text('Realm of `to` (`voicemail_new`, `missed_call`, `sms`).'),
    voicemailBox: text('Voicemail box, `box` or `box@context` (`voicemail_new`).'),
    voicemailId: text('Id of the message (`voicemail_new`).'),
    voicemailLengthMs: milliseconds('Length of the message in milliseconds (`voicemail_new`).'),
    callBridged: flag('Whether the call was answered by a user (`missed_call`).'),
    messageLeft: flag('Whether the caller left a voicemail message (`missed_call`).'),
    queueId: text('Name of the queue; absent where an agent logs in to all of them, or out (`queue_…`).'),
    queuePosition: count(
      'Position of the caller in the queue, 1 for the next (`queue_join`, `queue_leave`).',
    ),
    queueLeaveReason: {
      type: 'string',
      description: 'Why the caller left, if the switch reports it (`queue_leave`).',
      enum: ['answered', 'abandoned', 'timeout', 'no_agent', 'key'],
    },
    waitingSeconds: seconds(
      'Seconds that the caller has waited (`queue_leave`, `queue_agent_answer`, `queue_agent_complete`).',
    ),
    agentId: text('Id of the agent (`queue_agent_…`).'),
    agentCallId: leg('Id of the leg to the agent (`queue_agent_…`).'),
    agentNumber: text("Number of the agent's phone (`queue_agent_…`)."),
    talkingSeconds: seconds('Seconds that agent and caller have talked (`queue_agent_complete`).'),
    dtmfDigit: text(
      'Key that was pressed (`channel_dtmf`). The keys of a call may be a secret such as a PIN.',
    ),
    dtmfDurationMs: milliseconds('How long it was pressed, in milliseconds (`channel_dtmf`).'),
    path: text('File of the recording, as the switch names it (`recording_…`).'),
    reason: text(
      'Why the recording ended, if the switch reports it: `hangup`, `stopped`, `max_length` or `failed` (`recording_ready`). Who ended the talk: `caller`, `agent`, or `transfer` (`queue_agent_complete`). Why the agent pauses (`queue_agent_pause`).',
    ),
    name: text('Name of the conference (`conference_…`).'),
    member: text('Id of the member in the conference (`conference_…`).'),
    members: count('How many members the conference has afterwards (`conference_…`).'),
    username: text('User of the device at its realm (`device_…`).'),
    realm: text('Realm at which the device is registered (`device_…`).'),
    contact: text('Address under which the device can be reached, a SIP Contact (`device_…`).'),
    userAgent: text('Model and version of the device, as it says (`device_…`).'),
    expires: seconds('Seconds until the registration ends unless it is renewed (`device_registered`).'),
    body: text('Text of the message (`sms`). It may be a secret such as a login code.'),
    status: text('State of the message, as the platform names it (`sms`).'),
    orderingKey: leg(
      'Of a registered kind, in place of the id of a call: what has the same key is numbered and sent in order.',
    ),
    data: vars('Fields of a registered kind. Any JSON object that its schema accepts.'),
    documentId: text('Id of the document (`object`).'),
    documentType: text('Type of the document, such as `account` or `user` (`object`).'),
    documentAction: {
      type: 'string',
      description: 'What happened to the document (`object`).',
      enum: ['doc_created', 'doc_edited', 'doc_deleted'],
    },
    idempotencyKey: {
      ...leg('Within 24 hours, events with the same key are one event.'),
    },
  },
} as const satisfies JsonSchema
