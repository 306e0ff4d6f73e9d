"""Chinese operators: golden examples read one by one, and what they must refuse."""

import json
import random
from pathlib import Path

import pytest

from sago_harness.data import Document
from sago_harness.variants.base import Passage, Refused
from sago_harness.variants.build import build, make_passage
from sago_harness.variants.constraints.semantic import Semantic
from sago_harness.variants.features import FEATURES
from sago_harness.variants.operators import OPERATORS
from sago_harness.variants.phrases import read_table
from sago_harness.variants.recipe import parse_recipe

pytest.importorskip("rjieba")
pytest.importorskip("pypinyin")
pytest.importorskip("opencc")

QUESTIONS = [
    line.replace("\\n", "\n")
    for line in Path(__file__).with_name("chinese_questions.txt").read_text(encoding="utf-8").splitlines()
]
NAMES = sorted(name for name in OPERATORS if name.startswith("zh_"))


def vary(name, text, strength=None, seed=1, keep=()):
    passage = make_passage(text, "zh", keep)
    return OPERATORS.load(name)(strength).apply(passage, random.Random(seed))


GOLDEN = [
    ("zh_address", 1, "你知道你的生日吗？", "您知道您的生日吗？"),
    ("zh_address", -1, "您好，您的家在哪里？", "你好，你的家在哪里？"),
    ("zh_address", 1, "你们认识你的同桌吗？", "你们认识您的同桌吗？"),
    ("zh_address", 1, "你喜欢迷你裙吗？", "您喜欢迷你裙吗？"),
    ("zh_request", 1, "这里是图书馆。哪里可以借书？", "这里是图书馆。请问哪里可以借书？"),
    ("zh_request", 1, "写一首短诗。", "请写一首短诗。"),
    ("zh_request", 1, "问题：谁写了《围城》？", "问题：请问谁写了《围城》？"),
    ("zh_particles", 1, "《围城》是谁写的？", "《围城》是谁写的呢？"),
    ("zh_particles", 1, "谁写了《围城》？", "谁写了《围城》呢？"),
    ("zh_particles", 2, "你叫什么名字？", "你叫什么名字呀？"),
    ("zh_particles", 2, "水在多少度沸腾？", "水在多少度沸腾啊？"),
    ("zh_particles", 1, "请告诉我你的名字。", "请告诉我你的名字哦。"),
    ("zh_internet", 1, "为什么什么都怎么也找不到？", "为啥啥都咋也找不到？"),
    ("zh_internet", 2, "同学，你知道吗？谢谢！", "童鞋，你造吗？蟹蟹！"),
    ("zh_script", None, "头发和发现", "頭髮和發現"),
    ("zh_script", None, "臺灣在哪裡？", "台湾在哪里？"),
    ("zh_script", None, "谁写了《红楼梦》？", "誰寫了《红楼梦》？"),
    ("zh_mixed", None, "用Python画图", "用 Python 画图"),
    ("zh_mixed", None, "用 Python 画图", "用Python画图"),
    ("zh_mixed", None, "用 Python画图", "用 Python 画图"),
    ("zh_mixed", None, "他有5元钱和3块糖", "他有 5元钱和 3 块糖"),
    ("zh_ba", None, "小明打破了窗户。", "小明把窗户打破了。"),
    ("zh_ba", None, "天黑了。谁关上了门？", "天黑了。谁把门关上了？"),
    ("zh_ba", None, "妹妹吃完了蛋糕吗？", "妹妹把蛋糕吃完了吗？"),
    ("zh_bei", None, "狗咬伤了小偷。", "小偷被狗咬伤了。"),
    ("zh_bei", None, "谁偷走了《清明上河图》？", "《清明上河图》被谁偷走了？"),
    ("zh_topic", None, "谁写了《红楼梦》？", "《红楼梦》是谁写的？"),
    ("zh_topic", None, "《红楼梦》是谁写的？", "谁写了《红楼梦》？"),
    ("zh_topic", None, "法国的首都是哪里？", "哪里是法国的首都？"),
    ("zh_topic", None, "谁是中国的第一位皇帝？", "中国的第一位皇帝是谁？"),
    ("zh_topic", None, "天空为什么是蓝色的？", "为什么天空是蓝色的？"),
    ("zh_topic", None, "为什么天空是蓝色的？", "天空为什么是蓝色的？"),
    ("zh_topic", None, "北京在2008年举办了什么？", "在2008年，北京举办了什么？"),
    ("zh_shifou", None, "地球是圆的吗？", "地球是否是圆的？"),
    ("zh_shifou", None, "所有的鸟都会飞吗？", "所有的鸟是否都会飞？"),
    ("zh_shifou", None, "如果明天下雨，比赛会取消吗？", "如果明天下雨，比赛是否会取消？"),
    ("zh_a_not_a", None, "地球是圆的吗？", "地球是不是圆的？"),
    ("zh_a_not_a", None, "人可以在水下呼吸吗？", "人可不可以在水下呼吸？"),
    ("zh_a_not_a", None, "植物需要阳光吗？", "植物是不是需要阳光？"),
    ("zh_a_not_a", None, "所有的鸟都会飞吗？", "所有的鸟是不是都会飞？"),
    ("zh_ma", None, "地球是否是圆的？", "地球是圆的吗？"),
    ("zh_ma", None, "声音是不是透明的？", "声音是透明的吗？"),
    ("zh_ma", None, "鲸鱼是不是哺乳动物？", "鲸鱼是哺乳动物吗？"),
    ("zh_ma", None, "他们是不是已经出发了？", "他们已经出发了吗？"),
    ("zh_ma", None, "你有没有听说过丝绸之路？", "你听说过丝绸之路吗？"),
    ("zh_ma", None, "声音是否可以在真空中传播？", "声音可以在真空中传播吗？"),
]


@pytest.mark.parametrize(("name", "strength", "text", "wanted"), GOLDEN)
def test_golden(name, strength, text, wanted):
    assert vary(name, text, strength) == wanted


REFUSED = [
    ("zh_address", 1, "你们去哪里？"),
    ("zh_address", 1, "这是一条迷你裙。"),
    ("zh_address", -1, "你去哪里？"),
    ("zh_request", 1, "请问谁写了它？"),
    ("zh_request", 1, "今天天气很好。"),
    ("zh_request", 1, "难道他不知道吗？"),
    ("zh_request", 1, "誰寫了這本書？"),
    ("zh_particles", 1, "地球是圆的吗？"),
    ("zh_particles", 1, "地球是圆的。"),
    ("zh_particles", 1, "这是谁的呢？"),
    ("zh_internet", 2, "谁写了《什么是数学》？"),
    ("zh_internet", 1, "為什麼天空是藍色的？"),
    ("zh_homophones", 1, "谁是我？"),
    ("zh_homophones", 1, "《红楼梦》"),
    ("zh_lookalikes", 1, "谁是我？"),
    ("zh_lookalikes", 1, "“自己的天空”"),
    ("zh_script", None, "你好"),
    ("zh_mixed", None, "中文"),
    ("zh_mixed", None, "他说“用Python”。"),
    ("zh_ba", None, "弟弟打破了一个杯子。"),
    ("zh_ba", None, "小明喜欢杯子。"),
    ("zh_ba", None, "小明没打破杯子。"),
    ("zh_ba", None, "小明写完了作业，去睡觉了。"),
    ("zh_bei", None, "我发现了他在撒谎。"),
    ("zh_bei", None, "他打败了所有人。"),
    ("zh_bei", None, "《甲》打败了《乙》。"),
    ("zh_topic", None, "谁写了一本书？"),
    ("zh_topic", None, "他是谁？"),
    ("zh_topic", None, "水的化学式是什么？"),
    ("zh_topic", None, "离太阳最近的是哪颗行星？"),
    ("zh_topic", None, "为什么孩子喜欢的玩具都很贵？"),
    ("zh_topic", None, "为什么人会做梦？"),
    ("zh_shifou", None, "老师写的书好看吗？"),
    ("zh_shifou", None, "只有人类会使用工具吗？"),
    ("zh_shifou", None, "他不是学生吗？"),
    ("zh_shifou", None, "有人能帮我吗？"),
    ("zh_a_not_a", None, "会飞的鸟是恐龙吗？"),
    ("zh_a_not_a", None, "他来了吗？"),
    ("zh_ma", None, "请判断这句话是否正确。"),
    ("zh_ma", None, "我想知道他是否来？"),
    ("zh_ma", None, "吃太多糖会不会对牙齿不好？"),
    ("zh_imperative", None, "地球是圆的吗？"),
    ("zh_imperative", None, "你能告诉我几点吗？"),
    ("zh_imperative", None, "小明有书，他还有什么？"),
]


@pytest.mark.parametrize(("name", "strength", "text"), REFUSED)
def test_refused(name, strength, text):
    with pytest.raises(Refused):
        vary(name, text, strength)


@pytest.mark.parametrize(
    ("strength", "text", "wanted"),
    [
        (1, "法国的首都是哪里？", {"请问法国的首都是哪里？"}),
        (2, "请说出三种鸟。", {"麻烦你说出三种鸟。", "麻烦说出三种鸟。"}),
        (2, "请您说出三种鸟。", {"麻烦你说出三种鸟。", "麻烦说出三种鸟。", "麻烦您说出三种鸟。"}),
        (3, "请问几点了？", {"劳驾问一下，几点了？", "劳驾，请问几点了？", "劳驾请问一下，几点了？"}),
    ],
)
def test_a_stronger_request_takes_the_place_of_a_weaker_one(strength, text, wanted):
    assert {vary("zh_request", text, strength, seed) for seed in range(20)} <= wanted


def test_an_imperative_says_the_question_word_for_word():
    made = {vary("zh_imperative", "它5岁了。天空为什么是蓝色的？", seed=seed) for seed in range(30)}
    assert made == {
        f"它5岁了。{phrase}天空为什么是蓝色的。" for phrase in ("请说明", "请解释一下", "请告诉我")
    }


def test_an_imperative_says_me_once_before_us():
    made = {vary("zh_imperative", "我们的地球绕着哪颗星转？", seed=seed) for seed in range(30)}
    assert made == {"请说一说我们的地球绕着哪颗星转。"}


SLIPS = [
    # The characters of the same sound and tone are facts of any dictionary.
    ("zh_homophones", "天空是蓝色的。", "蓝", "兰"),
    ("zh_homophones", "我可以走。", "以", "已"),
    ("zh_lookalikes", "他介绍自己。", "己", "已"),
    ("zh_lookalikes", "朋友之间", "间", "问"),
    ("zh_lookalikes", "人们走了。", "人", "入"),
]


@pytest.mark.parametrize(("name", "text", "right", "wrong"), SLIPS)
def test_a_well_known_slip_is_among_the_outputs(name, text, right, wrong):
    assert text.replace(right, wrong) in {vary(name, text, 1, seed) for seed in range(60)}


@pytest.mark.parametrize("name", ["zh_homophones", "zh_lookalikes"])
@pytest.mark.parametrize("strength", [1, 2])
def test_a_slip_changes_as_many_characters_as_the_strength_says(name, strength):
    changed = 0
    for text in QUESTIONS:
        try:
            made = vary(name, text, strength)
        except Refused:
            continue
        assert len(made) == len(text)
        assert sum(old != new for old, new in zip(text, made, strict=True)) == strength
        changed += 1
    assert changed > 10


def test_a_homophone_sounds_like_the_character_it_stands_for():
    from pypinyin import Style, pinyin

    def sounds(char):
        return set(pinyin(char, style=Style.TONE3, heteronym=True)[0])

    compared = 0
    for text in QUESTIONS:
        try:
            made = vary("zh_homophones", text, 1)
        except Refused:
            continue
        (pair,) = [pair for pair in zip(text, made, strict=True) if pair[0] != pair[1]]
        assert sounds(pair[0]) & sounds(pair[1]), pair
        compared += 1
    assert compared > 60


@pytest.mark.parametrize("name", ["zh_homophones", "zh_lookalikes"])
def test_names_numbers_and_negations_never_slip(name):
    text = "中国没有三十天的月份，但是《红楼梦》和7个朋友都来自北京。"
    for seed in range(60):
        made = vary(name, text, 1, seed)
        for word in ("中国", "没有", "三十", "《红楼梦》", "7个", "北京"):
            assert word in made


def test_lookalikes_are_told_in_both_directions_and_never_of_themselves():
    forms = read_table("zh_lookalikes")["forms"]
    for char, others in forms.items():
        assert char not in others
        for other in others:
            assert char in forms[other]


def test_no_small_form_of_the_internet_adds_a_literal():
    table = read_table("zh_internet")
    for step in ("1", "2"):
        for word, form in table[step].items():
            assert word != form
            assert make_passage(form, "zh").keep == ()


ANSWERING = "长江在哪个国家？回答中国或者印度。\nA. 中国\nB. 印度\n答案："


def test_the_answer_key_stays_in_the_script_of_the_document():
    made = vary("zh_script", ANSWERING, keep=("中国", "印度"))
    assert made == "長江在哪個國家？回答中国或者印度。\nA. 中国\nB. 印度\n答案："


def test_a_script_variant_passes_every_constraint_and_keeps_names():
    recipe = parse_recipe({"name": "x", "version": "1", "variants": [{"operator": "zh_script"}]}, "x")
    made = build(Document("1", {"question": "爱因斯坦是哪国人？"}, language="zh"), recipe, 0)
    assert [variant.fields["question"] for variant in made.variants] == [
        "爱因斯坦是哪国人？",
        "愛因斯坦是哪國人？",
    ]


def test_script_goes_there_and_back():
    for text in ("法国的首都是哪里？", "为什么皇后的头发变白了？", "干燥的面条有多长？"):
        assert vary("zh_script", vary("zh_script", text)) == text


FEATURE_VALUES = [
    ("address_share", "您好，你呢？", 0.0),
    ("address_share", "你们好", 0.0),
    ("address_share", "您请坐，您喝茶，你坐，您吃", 0.5),
    ("final_particles", "谁呢？谁？", 0.5),
    ("final_particles", "好的吗？呢子大衣", 0.0),
    ("internet_markers", "神马东西木有了啊啊啊", 20.0),
    ("internet_markers", "", 0.0),
    ("traditional_share", "abc", 0.0),
    ("traditional_share", "國国", 0.0),
    ("mixed_spacing", "用 A和B", -1 / 3),
    ("mixed_spacing", "中文", 0.0),
]


@pytest.mark.parametrize(("name", "text", "wanted"), FEATURE_VALUES)
def test_feature_values_follow_by_hand(name, text, wanted):
    assert FEATURES.load(name)().value(text, "zh") == pytest.approx(wanted)


MOVED = [
    ("zh_address", -1, "您是谁？", -1),
    ("zh_address", 1, "你是谁？", 1),
    ("zh_request", 1, "这是谁？", 1),
    ("zh_particles", 1, "这是谁？", 1),
    ("zh_internet", 1, "这是什么？", 1),
    ("zh_internet", 2, "这是什么？", 1),
    ("zh_script", None, "这是什么？", 1),
    ("zh_mixed", None, "这是A吗？", 1),
    ("zh_mixed", None, "这是 A 吗？", -1),
]


@pytest.mark.parametrize(("name", "strength", "text", "sign"), MOVED)
def test_an_operator_moves_its_feature_by_what_mirroring_counts(name, strength, text, sign):
    operator = OPERATORS.load(name)
    feature = FEATURES.load(operator.feature)()
    change = feature.value(vary(name, text, strength), "zh") - feature.value(text, "zh")
    assert change * sign >= feature.minimum


@pytest.mark.parametrize("name", NAMES)
def test_every_operator_varies_some_questions_and_keeps_what_the_checker_guards(name):
    """Of the variants of the stored questions at most one in ten is refused as another meaning."""
    operator, checker, made, lost = OPERATORS.load(name), Semantic(), 0, 0
    for index, text in enumerate(QUESTIONS):
        passage = make_passage(text, "zh")
        for strength in operator.strengths or (None,):
            try:
                variant = operator(strength).apply(passage, random.Random(index))
            except Refused:
                continue
            made += 1
            lost += not checker.check(passage, variant).passed
    assert made >= 5
    assert lost <= made / 10


def test_the_stored_questions_are_many_and_no_two_alike():
    assert len(set(QUESTIONS)) == len(QUESTIONS) >= 60


@pytest.mark.parametrize("name", [name for name in NAMES if name not in ("zh_homophones", "zh_script")])
def test_a_lone_surrogate_is_left_where_it_is(name):
    operator = OPERATORS.load(name)
    for strength in operator.strengths or (None,):
        try:
            made = operator(strength).apply(Passage("地球\ud800是圆的吗？", "zh"), random.Random(1))
        except Refused:
            continue
        assert made.count("\ud800") == 1


def test_tables_of_forms_hold_single_characters_and_words():
    characters = read_table("zh_characters")["characters"]
    assert len(set(characters)) == len(characters) == 1500
    assert json.dumps(read_table("zh_voice"), ensure_ascii=False)
    for kind in ("ba", "bei"):
        verbs = read_table("zh_voice")[kind]
        assert len(set(verbs)) == len(verbs)


def test_script_is_converted_on_both_sides_of_a_nul():
    assert vary("zh_script", "这里\x00国家是谁的？") == "這裡\x00國家是誰的？"
    assert vary("zh_script", "\x00國家\x00\x00在哪裡？\x00") == "\x00国家\x00\x00在哪里？\x00"
