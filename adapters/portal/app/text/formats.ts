/** Formats of numbers and times by language, made once: making one takes longer than a hundred uses. */

function cached<Format>(make: (language: string) => Format): (language: string) => Format {
  const formats = new Map<string, Format>()
  return (language) => {
    const known = formats.get(language)
    if (known) return known
    const made = make(language)
    formats.set(language, made)
    return made
  }
}

export const numberFormat = cached((language) => new Intl.NumberFormat(language))
export const percentFormat = cached(
  (language) => new Intl.NumberFormat(language, { maximumFractionDigits: 1 }),
)
/** Of days. @param key language, zone, `short` or `long`, and whether it has the year: `en/utc/short/false` */
export const dateFormat = cached((key) => {
  const [language, zone, length, hasYear] = key.split('/') as [string, string, 'short' | 'long', string]
  return new Intl.DateTimeFormat(language === 'en' ? 'en-GB' : language, {
    weekday: length,
    day: 'numeric',
    month: length,
    ...(hasYear === 'true' && { year: 'numeric' }),
    ...(zone === 'utc' && { timeZone: 'UTC' }),
  })
})
export const pluralRules = cached((language) => new Intl.PluralRules(language))
