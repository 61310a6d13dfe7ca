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
export const relativeFormat = cached(
  (language) => new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' }),
)
export const pluralRules = cached((language) => new Intl.PluralRules(language))
