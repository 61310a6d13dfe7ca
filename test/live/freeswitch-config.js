// @ts-check
/**
 * The configuration of a FreeSWITCH for the live tests. `event_socket.conf.xml` and the application that sets the account
 * are those of `docs/switches/freeswitch.md`, with address, port and password filled in. The scenarios use mod_callcenter,
 * mod_valet_parking, mod_voicemail and mod_conference beside what FreeSWITCH loads for a call.
 */
import { readFileSync } from 'node:fs'

/** @typedef {import('./asterisk-config.js').SwitchConfig} SwitchConfig */

const DOCUMENT = new URL('../../docs/switches/freeswitch.md', import.meta.url)

/**
 * The `xml` block of a page that contains a text.
 *
 * @param {string} markdown
 * @param {string} text
 */
export function xmlBlock(markdown, text) {
  const blocks = [...markdown.matchAll(/^```xml\n(.*?)^```$/gms)].map(([, block]) => String(block))
  const found = blocks.find((block) => block.includes(text))
  if (found === undefined) throw new Error(`docs/switches/freeswitch.md has no block with ${text}`)
  return found
}

/**
 * All files by name, for the configuration folder of FreeSWITCH.
 *
 * @param {SwitchConfig} config
 * @returns {Record<string, string>}
 */
export function freeswitchFiles(config) {
  const document = readFileSync(DOCUMENT, 'utf8')
  const { address, ports, secret } = config
  return {
    'autoload_configs/event_socket.conf.xml': xmlBlock(document, 'event_socket.conf')
      .replace('127.0.0.1', address)
      .replace('8021', String(ports.eventSocket))
      .replace('…', secret),
    'sip_profiles/live.xml': profile(config),
    'dialplan/live.xml': dialplan(config, xmlBlock(document, 'application="export"').trim()),
    'autoload_configs/callcenter.conf.xml': callCenter(config),
    'autoload_configs/voicemail.conf.xml': VOICEMAIL,
    'directory/live.xml': directory(config),
  }
}

/** Lines of `<param>` elements. @param {Readonly<Record<string, string | number | boolean>>} params */
const paramsOf = (params) =>
  Object.entries(params).map(([name, value]) => `<param name="${name}" value="${value}"/>`)

/** A message ends after two seconds. */
const VOICEMAIL = [
  ...['<configuration name="voicemail.conf">', '<settings/>', '<profiles>', '<profile name="live">'],
  ...paramsOf({ 'file-extension': 'wav', 'min-record-len': 1, 'max-record-len': 2 }),
  ...['</profile>', '</profiles>', '</configuration>', ''],
].join('\n')

/** The users that have a mailbox. @param {SwitchConfig} config */
function directory({ mailboxes }) {
  const users = mailboxes.map((mailbox) => `<user id="${mailbox}"/>`)
  const groups = ['<groups>', '<group name="all">', '<users>', ...users, '</users>', '</group>', '</groups>']
  return ['<include>', '<domain name="live">', ...groups, '</domain>', '</include>', ''].join('\n')
}

/** @param {SwitchConfig} config */
function callCenter({ queues, phones, phonesAddress }) {
  const sections = queues.map(({ name, waitSeconds = 0 }) => [
    `<queue name="${name}@live">`,
    ...paramsOf({ strategy: 'sequentially-by-agent-order', 'max-wait-time': waitSeconds }),
    ...paramsOf({
      'moh-sound': 'silence_stream://-1',
      'tier-rules-apply': false,
      'time-base-score': 'queue',
    }),
    '</queue>',
  ])
  const delays = 'max-no-answer="0" wrap-up-time="0" reject-delay-time="0" busy-delay-time="0"'
  const members = queues.flatMap((queue) => queue.agents.map((agent) => ({ queue, agent })))
  const agents = members.map(({ queue, agent }) => {
    const phone = phones.find(({ number }) => number === agent)
    const account = phone?.account === undefined ? '' : `{ecallmgr_Account-ID=${phone.account}}`
    const contact = `${account}[leg_timeout=${queue.ringSeconds}]sofia/live/${agent}@${phonesAddress}:${phone?.port}`
    // An agent who did not answer is not called again at once.
    return `<agent name="${agent}" type="callback" contact="${contact}" status="Available" ${delays} no-answer-delay-time="60"/>`
  })
  const tiers = queues.flatMap((queue) =>
    queue.agents.map(
      (agent, index) =>
        `<tier agent="${agent}" queue="${queue.name}@live" level="1" position="${index + 1}"/>`,
    ),
  )
  return [
    ...['<configuration name="callcenter.conf">', '<settings/>', '<queues>', ...sections.flat(), '</queues>'],
    ...['<agents>', ...agents, '</agents>', '<tiers>', ...tiers, '</tiers>', '</configuration>', ''],
  ].join('\n')
}

/** A profile that takes calls without a password. @param {SwitchConfig} config */
function profile({ address, ports }) {
  const settings = {
    'sip-ip': address,
    'rtp-ip': address,
    'sip-port': ports.sip,
    context: 'live',
    dialplan: 'XML',
    'auth-calls': false,
    'inbound-codec-prefs': 'PCMU',
    'outbound-codec-prefs': 'PCMU',
    // The phones send keys by INFO, which FreeSWITCH reads and accepts only so (sofia.c).
    'extended-info-parsing': true,
    'liberal-dtmf': true,
  }
  const params = paramsOf(settings).map((line) => `    ${line}`)
  return ['<profile name="live">', '  <settings>', ...params, '  </settings>', '</profile>', ''].join('\n')
}

/**
 * @param {SwitchConfig} config
 * @param {string} exportAction the documented line that sets the account `acme`
 */
function dialplan({ phones, phonesAddress, trunk, dialplan: scenarios }, exportAction) {
  const withAccount = (/** @type {string} */ account) => exportAction.replace('acme', account)
  const dialStrings = new Map(
    phones.map(({ number, port }) => [number, `sofia/live/${number}@${phonesAddress}:${port}`]),
  )
  const accountOf = new Map(phones.map(({ number, account }) => [number, account]))
  /** The account of the first phone, in braces: they win over `export`. */
  const prefixOf = (/** @type {string | undefined} */ number) => {
    const account = accountOf.get(number ?? '')
    return account === undefined ? '' : `{ecallmgr_Account-ID=${account}}`
  }
  const accounts = [...new Set(phones.flatMap(({ account }) => account ?? []))].map((account) => {
    const numbers = phones.filter((phone) => phone.account === account).map(({ number }) => number)
    return extension('caller_id_number', `^(${numbers.join('|')})$`, [withAccount(account)], true)
  })
  /** @type {Map<string, string[]>} */
  const own = new Map()
  for (const line of scenarios) {
    const [, number = '', application, data = ''] = /^(\d+): (\S+) ?(.*)$/.exec(line) ?? []
    const prefix = prefixOf(/phone\((\d+)\)/.exec(data)?.[1])
    const resolved = prefix + data.replace(/phone\((\d+)\)/g, (_, phone) => dialStrings.get(phone) ?? '')
    own.set(number, [...(own.get(number) ?? []), `<action application="${application}" data="${resolved}"/>`])
  }
  const others = [...dialStrings].filter(([number]) => !own.has(number))
  const extensions = [
    ...accounts,
    // Callers outside, through the trunk.
    extension('caller_id_number', '^1555', [withAccount('acme')], true),
    ...[...own].map(([number, actions]) => extension('destination_number', `^${number}$`, actions)),
    ...others.map(([number, string]) =>
      extension('destination_number', `^${number}$`, [bridge(prefixOf(number) + string)]),
    ),
    extension('destination_number', '^(00\\d+)$', [bridge(`sofia/live/$1@${phonesAddress}:${trunk.port}`)]),
  ]
  return ['<include>', '<context name="live">', ...extensions, '</context>', '</include>', ''].join('\n')
}

const bridge = (/** @type {string} */ target) => `<action application="bridge" data="${target}"/>`

/**
 * @param {string} field
 * @param {string} expression
 * @param {readonly string[]} actions
 * @param {boolean} [continues]
 */
function extension(field, expression, actions, continues = false) {
  const lines = actions.map((action) => `    ${action}`)
  return [
    `<extension name="${field} ${expression.replace(/\W/g, '').slice(0, 20)}"${continues ? ' continue="true"' : ''}>`,
    `  <condition field="${field}" expression="${expression}">`,
    ...lines,
    '  </condition>',
    '</extension>',
  ].join('\n')
}
