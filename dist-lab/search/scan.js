// The linear scans that the filters are measured against, over rows held in memory. Neither reads a file nor parses.
import { distinctWords } from './words.js';
/** Whether a text holds all the words: what decides in the end. */
export function holdsAll(text, words) {
    const held = distinctWords(text);
    return words.every((word) => held.has(word));
}
/** A row ready for `scanPrepared`: its words with a space before and after each. */
export function prepare(words) {
    return ` ${[...words].join(' ')} `;
}
/** Cuts every row's text into words and compares: a scan that has prepared nothing. */
export function scanTexts(texts, words) {
    const found = [];
    for (let row = 0; row < texts.length; row++)
        if (holdsAll(texts[row], words))
            found.push(row);
    return found;
}
/** Looks for the words in rows already cut, normalised and lower-cased: the fairest rival, and the faster one. */
export function scanPrepared(prepared, words) {
    const needles = words.map((word) => ` ${word} `);
    const found = [];
    for (let row = 0; row < prepared.length; row++) {
        const text = prepared[row];
        let all = true;
        for (let i = 0; all && i < needles.length; i++)
            all = text.includes(needles[i]);
        if (all)
            found.push(row);
    }
    return found;
}
