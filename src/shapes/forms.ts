// The forms of the values of a URL: of segments of its path, and of parameters. The kernel finds them (kernel/shapes/forms.ts).
// A value of a variable form is a place from the first URL on; the others are literals until the data show a place.

/** Their names, in the order of the kernel's numbers. */
export const FORMS = [
  'empty',
  'word',
  'name',
  'text',
  'number',
  'year',
  'date',
  'uuid',
  'hash',
  'token',
  'locale',
  'version',
  'slug',
  'rest',
  'repeat',
] as const

export type Form = (typeof FORMS)[number]

/** The numbers of the forms, as they stand in byte arrays. */
export const FORM = Object.fromEntries(FORMS.map((form, i) => [form, i])) as Readonly<Record<Form, number>>

/** Forms from this one on are variable by themselves. */
export const FIRST_VARIABLE = FORM.number
