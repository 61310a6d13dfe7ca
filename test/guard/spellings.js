// @ts-check
/** Every way to disguise an address in a URL. */

/** Forbidden addresses. */
export const CLOSED = [
  '169.254.169.254',
  '10.0.0.1',
  '203.0.113.7',
  '127.0.0.1',
  '0.0.0.0',
  '127.255.255.254',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '100.64.0.1',
  '100.127.255.254',
  '198.18.0.1',
  '198.19.255.255',
  '192.0.2.1',
  '198.51.100.1',
  '240.0.0.1',
  '192.0.0.8',
  '0.1.2.3',
]
/** Public addresses, most of them next to a forbidden range. */
export const OPEN = [
  '8.8.8.8',
  '1.1.1.1',
  '9.255.255.255',
  '11.0.0.0',
  '126.255.255.255',
  '128.0.0.1',
  '169.253.255.255',
  '169.255.0.0',
  '172.15.255.255',
  '172.32.0.1',
  '192.167.255.255',
  '192.169.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '198.17.255.255',
  '198.20.0.1',
  '223.255.255.255',
]
export const CLOSED_SIX = [
  '::1',
  '::',
  'fd00::1',
  'fc00::7',
  'fe80::1',
  'fec0::1',
  '2001:db8::1',
  'ff02::1',
  '100::1',
]
export const OPEN_SIX = ['2606:4700::1111', '2a00:1450:4001::200e', '2400:cb00::7']

const bytesOf = (/** @type {string} */ four) => four.split('.').map(Number)
const numberOf = (/** @type {string} */ four) => bytesOf(four).reduce((sum, byte) => sum * 256 + byte, 0)
const hex = (/** @type {number} */ value, width = 0) => value.toString(16).padStart(width, '0')
const groups = (/** @type {string} */ four) => {
  const value = numberOf(four)
  return `${hex(Math.floor(value / 65_536))}:${hex(value % 65_536)}`
}
/** @param {number} zero the digit 0 of another script */
const digits = (zero) => (/** @type {string} */ text) =>
  text.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)))
const escaped = (/** @type {string} */ text) => text.replace(/./g, (char) => `%${hex(char.charCodeAt(0), 2)}`)
const octal = (/** @type {number} */ value) => `0${value.toString(8)}`

/** @type {Readonly<Record<string, (four: string) => string>>} */
export const FOUR_SPELLINGS = {
  plain: (four) => four,
  'with a trailing dot': (four) => `${four}.`,
  'one number': (four) => String(numberOf(four)),
  'one hex number': (four) => `0x${hex(numberOf(four))}`,
  'one hex number in upper case': (four) => `0X${hex(numberOf(four), 12).toUpperCase()}`,
  'one octal number': (four) => octal(numberOf(four)),
  'hex parts': (four) =>
    bytesOf(four)
      .map((byte) => `0x${hex(byte)}`)
      .join('.'),
  'octal parts': (four) => bytesOf(four).map(octal).join('.'),
  'parts with leading zeros': (four) =>
    bytesOf(four)
      .map((byte) => `000${byte.toString(8)}`)
      .join('.'),
  'mixed parts': (four) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytesOf(four)
    return `0x${hex(a)}.${octal(b)}.${c}.${d}`
  },
  'two parts': (four) => `${bytesOf(four)[0]}.${numberOf(four) % 2 ** 24}`,
  'three parts': (four) => `${bytesOf(four)[0]}.${bytesOf(four)[1]}.${numberOf(four) % 65_536}`,
  'full-width digits': digits(0xff10),
  'bold digits': digits(0x1d7ce),
  'ideographic dots': (four) => four.replaceAll('.', '\u3002'),
  'full-width dots': (four) => four.replaceAll('.', '\uff0e'),
  'a half-width dot': (four) => four.replace('.', '\uff61'),
  'soft hyphens': (four) => four.split('').join('\u00ad'),
  'a zero-width space': (four) => four.replace('.', '.\u200b'),
  escaped,
  'escaped in full width': (four) => encodeURIComponent(digits(0xff10)(four)),
  'escaped dots': (four) => four.replaceAll('.', '%2e'),
  'a tab inside': (four) => four.replace('.', '.\t'),
  'a line break inside': (four) => four.replace('.', '\r\n.'),
  'larger by 2^32': (four) => String(numberOf(four) + 2 ** 32),
  'a fifth part': (four) => `${four}.0`,
  'a name that looks like it': (four) => `${four}.test`,
  mapped: (four) => `[::ffff:${four}]`,
  'mapped in hex': (four) => `[::ffff:${groups(four)}]`,
  'mapped, uncompressed': (four) => `[0000:0000:0000:0000:0000:FFFF:${groups(four).toUpperCase()}]`,
  compatible: (four) => `[::${four}]`,
  translated: (four) => `[::ffff:0:${four}]`,
  NAT64: (four) => `[64:ff9b::${four}]`,
  'NAT64 in hex': (four) => `[64:FF9B::${groups(four)}]`,
  'local-use NAT64': (four) => `[64:ff9b:1::${four}]`,
  '6to4': (four) => `[2002:${groups(four)}::1]`,
  Teredo: (four) =>
    `[2001:0:4136:e378:8000:63bf:${groups(
      bytesOf(four)
        .map((byte) => 255 - byte)
        .join('.'),
    )}]`,
  ISATAP: (four) => `[2606:4700::5efe:${four}]`,
  'ISATAP, universal bit': (four) => `[2606:4700::200:5efe:${four}]`,
}

/** @type {Readonly<Record<string, (six: string) => string>>} */
export const SIX_SPELLINGS = {
  plain: (six) => `[${six}]`,
  'upper case': (six) => `[${six.toUpperCase()}]`,
  'with a zone': (six) => `[${six}%25lo]`,
  'with a bare zone': (six) => `[${six}%lo]`,
  escaped: (six) => `%5b${escaped(six)}%5d`,
  'without brackets': (six) => six,
}

export const LOCAL_NAMES = [
  'localhost',
  'LOCALHOST',
  'localhost.',
  'a.localhost',
  'a.b.LocalHost.',
  'localhost%2e',
  '%6cocalhost',
  '\uff4c\uff4f\uff43\uff41\uff4c\uff48\uff4f\uff53\uff54',
  'local\u00adhost',
  'ip6-localhost',
  'xn--localhost-',
  '.localhost',
]

/** URLs around a host. @type {Readonly<Record<string, (host: string, path: string) => string>>} */
export const URLS = {
  plain: (host, path) => `http://${host}/${path}`,
  'port 80': (host, path) => `http://${host}:80/${path}`,
  'a port with zeros': (host, path) => `http://${host}:0008080/${path}`,
  'a port without a number': (host, path) => `http://${host}:/${path}`,
  https: (host, path) => `https://${host}/${path}`,
  'upper case': (host, path) => `HTTP://${host}/${path}`,
  'a user name that looks like a host': (host, path) => `http://example.com@${host}/${path}`,
  'a user name and a password': (host, path) => `http://example.com:80@${host}:8080/${path}`,
  backslashes: (host, path) => `http:\\\\${host}\\${path}`,
  'one slash': (host, path) => `http:/${host}/${path}`,
  'no slash': (host, path) => `http:${host}/${path}`,
  'four slashes': (host, path) => `http:////${host}/${path}`,
  'a backslash before an @': (host, path) => `http://${host}\\@example.com/${path}`,
  'a hash before an @': (host, path) => `http://${host}/${path}#@example.com/`,
  'surrounding blanks': (host, path) => `  http://${host}/${path}\n`,
  'a tab in the scheme': (host, path) => `ht\ttp://${host}/${path}`,
}
