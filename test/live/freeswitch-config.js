// @ts-check
/**
 * The configuration of a FreeSWITCH for the live tests. `event_socket.conf.xml` and the application that sets the account
 * are those of `docs/switches/freeswitch.md`, with address, port and password filled in.
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
  }
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
  }
  const params = Object.entries(settings).map(
    ([name, value]) => `    <param name="${name}" value="${value}"/>`,
  )
  return ['<profile name="live">', '  <settings>', ...params, '  </settings>', '</profile>', ''].join('\n')
}

/**
 * @param {SwitchConfig} config
 * @param {string} exportAction the documented line that sets the account `acme`
 */
function dialplan({ phones, phonesAddress, trunk, dialplan: scenarios }, exportAction) {
  const withAccount = (/** @type {string} */ account) => exportAction.replace('acme', account)
  const dialString = (/** @type {SwitchConfig['phones'][number]} */ { number, port, account }) =>
    `${account === undefined ? '' : `[ecallmgr_Account-ID=${account}]`}sofia/live/${number}@${phonesAddress}:${port}`
  const dialStrings = new Map(phones.map((phone) => [phone.number, dialString(phone)]))
  const accounts = [...new Set(phones.flatMap(({ account }) => account ?? []))].map((account) => {
    const numbers = phones.filter((phone) => phone.account === account).map(({ number }) => number)
    return extension('caller_id_number', `^(${numbers.join('|')})$`, [withAccount(account)], true)
  })
  /** @type {Map<string, string[]>} */
  const own = new Map()
  for (const line of scenarios) {
    const [, number = '', application, data = ''] = /^(\d+): (\S+) ?(.*)$/.exec(line) ?? []
    const resolved = data.replace(/phone\((\d+)\)/g, (_, phone) => dialStrings.get(phone) ?? '')
    own.set(number, [...(own.get(number) ?? []), `<action application="${application}" data="${resolved}"/>`])
  }
  const others = [...dialStrings].filter(([number]) => !own.has(number))
  const extensions = [
    ...accounts,
    // Callers outside, through the trunk.
    extension('caller_id_number', '^1555', [withAccount('acme')], true),
    ...[...own].map(([number, actions]) => extension('destination_number', `^${number}$`, actions)),
    ...others.map(([number, string]) => extension('destination_number', `^${number}$`, [bridge(string)])),
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
