/** Seeded faults in the optional hooks of Asterisk and FreeSWITCH: transfers, parking, voicemail, missed calls, queues, keys. */

const AMI = 'adapters/telephony/asterisk/ami-call-report.ts'
const ASTERISK = 'adapters/telephony/asterisk/call-report.ts'
const FREESWITCH = 'adapters/telephony/freeswitch/call-report.ts'
const FREESWITCH_QUEUES = 'adapters/telephony/freeswitch/queue-report.ts'

const STANDALONE = 'adapters/telephony/asterisk/standalone-report.ts'

const ofAsterisk = { tests: ['test/adapters/telephony/asterisk-call-reports.test.ts'] }
const ofFreeswitch = { tests: ['test/adapters/telephony/freeswitch-call-reports.test.ts'] }

/** @type {import('../mutant.js').Mutant[]} */
export const mutants = [
  {
    what: 'Asterisk: a caller who gives up a queue has a missed call',
    file: ASTERISK,
    find: "!phone.notes.isInQueue && phone.channel.application !== 'Queue'",
    replace: "phone.channel.application !== 'Queue'",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: the end of a recording by the end of its call is missing',
    file: ASTERISK,
    find: 'of leg.notes.recordings.splice(0))',
    replace: 'of leg.notes.recordings.slice(0, 0))',
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: the sender of a text message chooses an id that a leg may have',
    file: STANDALONE,
    find: 'idOf(`sms/${',
    replace: 'idOf(`${',
    tests: ['test/adapters/telephony/asterisk-standalone.test.ts'],
  },
  {
    what: 'Asterisk: a transfer that failed is published',
    file: AMI,
    find: "if (message.get('Result') !== 'Success') return undefined",
    replace: "if (message.get('Result') === undefined) return undefined",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: channel_transferor belongs to the transferred leg',
    file: AMI,
    find: "{ hook: 'channel_transferor', channel: transferor, details }",
    replace: "{ hook: 'channel_transferor', channel: channelOf('Transferee') ?? transferor, details }",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: channel_transferee is missing',
    file: AMI,
    find: '...(transferee ? [',
    replace: '...(transferee && transferee === transferor ? [',
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: a parked call that is abandoned was retrieved',
    file: AMI,
    find: "ParkedCallGiveUp: 'PARK_ABANDONED'",
    replace: "ParkedCallGiveUp: 'PARK_RETRIEVED'",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: voicemail_new of a caller who left no message',
    file: AMI,
    find: 'name === variable && value === set',
    replace: "message.get('Variable') === 'VMSTATUS'",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: missed_call of a caller who left a message',
    file: ASTERISK,
    find: ' || !notes.hasDialledPhone || notes.hasLeftMessage) return false',
    replace: ' || !notes.hasDialledPhone) return false',
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: missed_call of a call that was answered',
    file: ASTERISK,
    find: "return pastBridges.size === 0 && dialStatus !== 'ANSWER'",
    replace: "return pastBridges.size === 0 || dialStatus !== 'ANSWER'",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: queue_join is taken for queue_leave',
    file: AMI,
    find: "QueueCallerJoin: 'queue_join'",
    replace: "QueueCallerJoin: 'queue_leave'",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: queue_leave does not say that the caller hung up',
    file: ASTERISK,
    find: "=== undefined ? undefined : 'abandoned')",
    replace: '=== undefined ? undefined : undefined)',
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: queue_agent_offer is taken for the answer of the agent',
    file: AMI,
    find: "AgentCalled: 'queue_agent_offer'",
    replace: "AgentCalled: 'queue_agent_answer'",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: queue_agent_answer does not name the agent',
    file: AMI,
    find: "hook.startsWith('queue_agent_')",
    replace: "hook === 'queue_agent_offer'",
    ...ofAsterisk,
  },
  {
    what: 'Asterisk: channel_dtmf of keys that the switch sends to the phone',
    file: AMI,
    find: "if (message.get('Direction') !== 'Received') return undefined",
    replace: '',
    ...ofAsterisk,
  },
  {
    what: 'FreeSWITCH: channel_transferor names the leg that is transferred as its target',
    file: FREESWITCH,
    find: 'targetId: id, transfereeId: leg.otherLegCallId',
    replace: 'targetId: leg.otherLegCallId, transfereeId: id',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: channel_transferee of a blind transfer is missing',
    file: FREESWITCH,
    find: 'targetId: undefined, transfereeId: id',
    replace: 'targetId: undefined, transfereeId: undefined',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: parking: a caller who hangs up in the slot was retrieved',
    file: FREESWITCH,
    find: "if (event.header('Answer-State') === 'hangup') return [report('PARK_ABANDONED')]\n",
    replace: '',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: voicemail_new of a message that is only read',
    file: FREESWITCH,
    find: "event.header('VM-Action') === 'leave-message' ? [voicemailReport(event)] : []",
    replace: '[voicemailReport(event)]',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: missed_call of a caller who left a message',
    file: FREESWITCH,
    find: ' || !notes.hasDialledPhone || notes.hasLeftMessage)',
    replace: ' || !notes.hasDialledPhone)',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: missed_call of a call that was answered',
    file: FREESWITCH,
    find: 'if (answeredUs > 0 && notes.wasBridged) return undefined',
    replace: '',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: queue_join is missing',
    file: FREESWITCH_QUEUES,
    find: "return [report('queue_join')]",
    replace: 'return []',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: queue_leave comes again when the conversation is over',
    file: FREESWITCH_QUEUES,
    find: "if (event.header('CC-Cause') !== 'Cancel') return []",
    replace: '',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: queue_agent_offer does not name the agent',
    file: FREESWITCH_QUEUES,
    find: "[report('queue_agent_offer', { agentId })]",
    replace: "[report('queue_agent_offer')]",
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: queue_agent_answer does not name the leg of the agent',
    file: FREESWITCH_QUEUES,
    find: "const agentCallId = event.header('CC-Agent-UUID')",
    replace: 'const agentCallId = undefined',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: a caller who hung up after a key left the queue by the key',
    file: FREESWITCH_QUEUES,
    find: "  if (event.header('Answer-State') === 'hangup') return 'abandoned'\n",
    replace: '',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: calls that mod_fifo only tracks are in a queue',
    file: FREESWITCH_QUEUES,
    find: '  if (queueId === TRACKED_CALLS) return []\n',
    replace: '',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: the agent of a queue belongs to another call than the caller',
    file: 'adapters/telephony/freeswitch/leg.ts',
    find: "event.header('variable_cc_member_session_uuid') ??",
    replace: '',
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: an agent who is back from a break logs in',
    file: 'adapters/telephony/freeswitch/account-events.ts',
    find: "before === 'pausing' ? 'queue_agent_resume' : 'queue_agent_login'",
    replace: "'queue_agent_login'",
    ...ofFreeswitch,
  },
  {
    what: 'FreeSWITCH: channel_dtmf has its duration in samples',
    file: FREESWITCH,
    find: 'const SAMPLES_PER_MS = 8',
    replace: 'const SAMPLES_PER_MS = 1',
    ...ofFreeswitch,
  },
]
